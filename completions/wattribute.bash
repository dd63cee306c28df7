# SPDX-License-Identifier: Apache-2.0
# Completion of the command wattribute for bash.

_wattribute()
{
	local cur prev words cword command i
	local common='--sources --usage --precise --slice --period --config --machine --sysfs-root
		--procfs-root --nvml-lib --redfish-url --redfish-auth --redfish-tls --meter --kubelet-url --kubelet-token --kubelet-tls --verbose --help --json'
	local commands='top stat record replay report export plot learn mark agent sources board doctor calibrate capture'
	local attribution='--idle-policy --share-key --prior --sensor-delay --privacy'

	if declare -F _init_completion >/dev/null; then
		_init_completion -n = || return
	else
		cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
	fi
	if ((cword == 1)); then
		COMPREPLY=($(compgen -W "$commands help --help --version" -- "$cur"))
		return
	fi
	command=${words[1]}
	# "--option=value" is completed as its value.
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*} cur=${cur#*=}
	fi
	case $prev in
	--sysfs-root | --procfs-root)
		COMPREPLY=($(compgen -d -- "$cur"))
		return
		;;
	--settings | --config | --machine | --web-config | --nvml-lib | --output | -o | --recording)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	--usage)
		COMPREPLY=($(compgen -W 'auto bpf procfs synth' -- "$cur"))
		return
		;;
	--sources)
		COMPREPLY=($(compgen -W 'meter nut redfish perf_rapl powercap cray amdgpu intel_gpu hwmon dcmi nvml iio power_supply
			kmod context estimate null synth' -- "$cur"))
		return
		;;
	--with)
		COMPREPLY=($(compgen -W 'processes commands host serials all' -- "$cur"))
		return
		;;
	--idle-policy)
		COMPREPLY=($(compgen -W 'separate proportional requests' -- "$cur"))
		return
		;;
	--privacy)
		COMPREPLY=($(compgen -W 'names own users all' -- "$cur"))
		return
		;;
	--share-key)
		COMPREPLY=($(compgen -W 'auto cpu_time learned gpu_time gpu_memory cycles instructions none' -- "$cur"))
		return
		;;
	--format | -f)
		if [[ $command == export ]]; then
			COMPREPLY=($(compgen -W 'csv json jsonl perfetto emon nvmt snapshot report html svg png' -- "$cur"))
			return
		fi
		if [[ $command == record ]]; then
			COMPREPLY=($(compgen -W 'watt nvmt' -- "$cur"))
			return
		fi
		;;
	--what | -w)
		if [[ $command == plot ]]; then
			COMPREPLY=($(compgen -W 'package processes domains' -- "$cur"))
		else
			COMPREPLY=($(compgen -W 'energy domains samples marks' -- "$cur"))
		fi
		return
		;;
	--group | -g)
		if [[ $command == top || $command == replay ]]; then
			COMPREPLY=($(compgen -W 'process tree container unit user cgroup job' -- "$cur"))
			return
		fi
		if [[ $command == report ]]; then
			COMPREPLY=($(compgen -W 'process thread name container pod unit user cgroup job' -- "$cur"))
			return
		fi
		;;
	--vs)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	--sort | -s)
		COMPREPLY=($(compgen -W 'power energy cpu gpu pid name' -- "$cur"))
		return
		;;
	--pid)
		COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur"))
		return
		;;
	--rate | --for | --rotate-size | --rotate-time | --keep | --from | --to | --phase | --rows | --window | \
		--slice | --period | --sensor-delay | --delay | --count | --seconds | --filter | --repeat | --interval | \
		--redfish-url | --meter | --kubelet-url | --otlp-url | --otlp-interval | --otlp-queue-mib)
		return
		;;
	esac
	case $command in
	agent)
		COMPREPLY=($(compgen -W "--settings --print-config --check-config --listen --connections --connection-timeout --web-config --user
			--interval --levels --level-domains --top --min-age --keep-ended --created --compat --log-level
			--sources --usage --precise --slice --period --rates --delays --idle-policy --share-keys --prior
			--privacy --config --machine --sysfs-root --procfs-root --nvml-lib --redfish-url --redfish-auth --redfish-tls --meter
			--kubelet-url --kubelet-token --kubelet-tls --otlp-url --otlp-interval --otlp-headers --otlp-tls
			--otlp-queue --otlp-queue-mib --recordings --recordings-most --recording-mib --help" -- "$cur"))
		;;
	top)
		COMPREPLY=($(compgen -W "$common $attribution --delay --count --once --seconds --group --sort
			--filter --threads --domains --plain" -- "$cur"))
		;;
	stat | record)
		# Behind the first word that is no option, the command completes itself.
		for ((i = 2; i < cword; i++)); do
			case ${words[i]} in
			-r | -I | -p | -o | --repeat | --interval | --pid | --output | --seconds | \
				--rate | --for | --rotate-size | --rotate-time | --keep | \
				--sources | --usage | --slice | --period | --config | --machine | --sysfs-root | \
				--procfs-root | --nvml-lib | --redfish-url | --redfish-auth | --redfish-tls | --meter | --kubelet-url | --kubelet-token | --kubelet-tls | \
				--idle-policy | --share-key | --sensor-delay | --privacy)
				((i++))
				;;
			--)
				((i++))
				break
				;;
			-*) ;;
			*)
				break
				;;
			esac
		done
		if ((i < cword)) && declare -F _command_offset >/dev/null; then
			_command_offset "$i"
		elif [[ $cur == -* ]]; then
			local own='--repeat --interval --per-domain --per-thread --pid --seconds --output'

			if [[ $command == record ]]; then
				own='--output --rate --for --format --rotate-size --rotate-time --keep --threads --force --quiet'
			fi
			COMPREPLY=($(compgen -W "$common $attribution $own" -- "$cur"))
		else
			COMPREPLY=($(compgen -c -- "$cur"))
		fi
		;;
	replay)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$attribution --from --to --phase --window --group
				--sort --filter --threads --domains --json --verbose --help" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	report)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$attribution --output --force --vs --group --rows
				--window --from --to --json --verbose --help" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	export)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$attribution --format --output --force --what --window
				--from --to --kinds --zeros --verbose --help" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	plot)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$attribution --output --force --what --top --stacked
				--lines --window --from --to --size --dark --verbose --help" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	learn)
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W "$common $attribution --output --force --seconds --rows" -- "$cur"))
		else
			COMPREPLY=($(compgen -f -- "$cur"))
		fi
		;;
	mark)
		COMPREPLY=($(compgen -W '--recording --pid --end --quiet --help' -- "$cur"))
		;;
	calibrate)
		COMPREPLY=($(compgen -W 'gpu --for --nvml-lib --cuda-lib --sysfs-root --verbose --help' -- "$cur"))
		;;
	capture)
		COMPREPLY=($(compgen -W '--output --with --machine --sysfs-root --procfs-root --verbose --help' -- "$cur"))
		;;
	board)
		COMPREPLY=($(compgen -W '--yaml --setup-emc --undo-emc --emc-state --config --machine --sysfs-root --procfs-root --verbose --help' -- "$cur"))
		;;
	sources | doctor)
		COMPREPLY=($(compgen -W "$common" -- "$cur"))
		;;
	help)
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		;;
	esac
}

complete -F _wattribute wattribute
