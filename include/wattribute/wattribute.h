/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wattribute.h
 * @brief All of Wattribute's public headers.
 */
#ifndef WATTRIBUTE_WATTRIBUTE_H
#define WATTRIBUTE_WATTRIBUTE_H

#include <wattribute/types.h>

#include <wattribute/balance.h>
#include <wattribute/board.h>
#include <wattribute/calibration.h>
#include <wattribute/capture.h>
#include <wattribute/channel.h>
#include <wattribute/comparison.h>
#include <wattribute/cursor.h>
#include <wattribute/diag.h>
#include <wattribute/domain.h>
#include <wattribute/entity.h>
#include <wattribute/json.h>
#include <wattribute/mark.h>
#include <wattribute/meter.h>
#include <wattribute/options.h>
#include <wattribute/phase.h>
#include <wattribute/ranking.h>
#include <wattribute/recording.h>
#include <wattribute/run.h>
#include <wattribute/sample.h>
#include <wattribute/series.h>
#include <wattribute/session.h>
#include <wattribute/profile.h>
#include <wattribute/sink.h>
#include <wattribute/snapshot.h>
#include <wattribute/statistics.h>
#include <wattribute/stopwatch.h>
#include <wattribute/tally.h>
#include <wattribute/total.h>
#include <wattribute/units.h>
#include <wattribute/view.h>
#include <wattribute/window.h>

#endif
