/* SPDX-License-Identifier: Apache-2.0 */
/* What a section of code takes: c++ -std=c++17 section.cpp $(pkg-config --cflags --libs libwattribute) */
#include <cstdio>

#include <wattribute/wattribute.hpp>

static double work()
{
	double sum = 0;

	for (long i = 1; i < 50000000; i++)
		sum += 1.0 / static_cast<double>(i);
	return sum;
}

int main()
{
	watt::meter meter;

	meter.begin();
	double sum = work();
	watt::expected<watt::result> took = meter.end();
	if (!took) {
		std::fprintf(stderr, "not measured: %s\n", took.error().text.c_str());
		return 1;
	}
	std::printf("%.6f: the machine took %.3f J in %.3f s\n", sum, took->energy_j.value_or(0),
		    took->elapsed_s);
	for (const auto &[path, energy_j] : took->domain_energy_j)
		if (energy_j)
			std::printf("  %s: %.3f J\n", path.c_str(), *energy_j);
	return 0;
}
