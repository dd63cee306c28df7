/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture as PNG: librsvg renders the very SVG that is written otherwise. It is loaded when a
 * PNG is asked for, since with all that it needs it is larger than the rest of the program.
 */
#include "sink/png.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <librsvg/rsvg.h>

/* What is called of it and of what it needs. */
struct librsvg {
	typeof(rsvg_handle_new_from_data) *handle_new_from_data;
	typeof(rsvg_handle_render_document) *handle_render_document;
	typeof(cairo_image_surface_create) *image_surface_create;
	typeof(cairo_create) *create;
	typeof(cairo_destroy) *destroy;
	typeof(cairo_status) *status;
	typeof(cairo_surface_destroy) *surface_destroy;
	typeof(cairo_surface_write_to_png_stream) *surface_write_to_png_stream;
	typeof(g_object_unref) *object_unref;
	typeof(g_error_free) *error_free;
};

static int load(const struct watt_log *log, struct librsvg *lib)
{
	const struct {
		void **function;
		const char *name;
	} functions[] = {
		{ (void **)&lib->handle_new_from_data, "rsvg_handle_new_from_data" },
		{ (void **)&lib->handle_render_document, "rsvg_handle_render_document" },
		{ (void **)&lib->image_surface_create, "cairo_image_surface_create" },
		{ (void **)&lib->create, "cairo_create" },
		{ (void **)&lib->destroy, "cairo_destroy" },
		{ (void **)&lib->status, "cairo_status" },
		{ (void **)&lib->surface_destroy, "cairo_surface_destroy" },
		{ (void **)&lib->surface_write_to_png_stream, "cairo_surface_write_to_png_stream" },
		{ (void **)&lib->object_unref, "g_object_unref" },
		{ (void **)&lib->error_free, "g_error_free" },
	};
	/* The functions of the libraries that it needs are found through it. */
	void *handle = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
	size_t i;

	for (i = 0; handle && i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].function = dlsym(handle, functions[i].name);
		if (!*functions[i].function)
			handle = NULL;
	}
	if (handle)
		return 0;
	watt_log(log, WATT_LOG_ERROR,
		 "no PNG without librsvg (Debian: librsvg2-2); SVG needs nothing");
	return -EOPNOTSUPP;
}

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned int n)
{
	return fwrite(data, 1, n, closure) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static int render(const struct watt_log *log, const struct librsvg *lib, RsvgHandle *handle,
		  double width, double height, FILE *out)
{
	RsvgRectangle page = { 0, 0, width, height };
	cairo_surface_t *surface =
		lib->image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
	cairo_t *cairo = lib->create(surface);
	GError *error = NULL;
	int r = 0;

	if (lib->status(cairo) != CAIRO_STATUS_SUCCESS ||
	    !lib->handle_render_document(handle, cairo, &page, &error)) {
		watt_log(log, WATT_LOG_ERROR, "cannot draw the picture: %s",
			 error ? error->message : "it is too large");
		r = -EINVAL;
	}
	if (error)
		lib->error_free(error);
	if (r == 0 && lib->surface_write_to_png_stream(surface, write_bytes, out)) {
		watt_log(log, WATT_LOG_ERROR, "cannot write the picture: %s",
			 strerror(errno ? errno : EIO));
		r = -EIO;
	}
	lib->destroy(cairo);
	lib->surface_destroy(surface);
	return r;
}

int watt_png_write(const struct watt_log *log, const char *svg, size_t len, double width,
		   double height, FILE *out)
{
	struct librsvg loaded, *lib = &loaded;
	RsvgHandle *handle;
	GError *error = NULL;
	int r;

	r = load(log, lib);
	if (r < 0)
		return r;
	handle = lib->handle_new_from_data((const guint8 *)svg, len, &error);
	if (!handle) {
		watt_log(log, WATT_LOG_ERROR, "cannot draw the picture: %s", error->message);
		lib->error_free(error);
		return -EINVAL;
	}
	r = render(log, lib, handle, width, height, out);
	lib->object_unref(handle);
	return r;
}
