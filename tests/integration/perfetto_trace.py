# SPDX-License-Identifier: Apache-2.0
"""Reads the trace of `wattribute export -f perfetto` by the wire format of protocol buffers alone,
and holds it against what Perfetto documents of tracks and events. With the official messages of
the package `perfetto` it is read a second time."""
import os
import struct
import subprocess
import sys

from command import TOP, Skip, equal, true

# perfetto/trace/trace_packet.proto and track_event/*.proto: number: (name, type)
EVENT = {9: ('type', int), 11: ('track_uuid', int), 23: ('name', str), 44: ('value', float)}
COUNTER = {6: ('unit_name', str)}
PROCESS = {1: ('pid', int), 6: ('process_name', str)}
TRACK = {1: ('uuid', int), 2: ('name', str), 3: ('process', PROCESS), 5: ('parent_uuid', int),
         8: ('counter', COUNTER), 11: ('child_ordering', int), 12: ('sibling_order_rank', int),
         15: ('sibling_merge_behavior', int)}
CLOCK = {1: ('clock_id', int), 2: ('timestamp', int)}
CLOCKS = {1: ('clocks', CLOCK), 2: ('primary_trace_clock', int)}
UTSNAME = {1: ('sysname', str), 3: ('release', str), 4: ('machine', str)}
SYSTEM = {1: ('utsname', UTSNAME), 8: ('num_cpus', int)}
PACKET = {6: ('clock_snapshot', CLOCKS), 8: ('timestamp', int),
          10: ('trusted_packet_sequence_id', int), 11: ('track_event', EVENT),
          13: ('sequence_flags', int), 45: ('system_info', SYSTEM), 58: ('timestamp_clock_id', int),
          60: ('track_descriptor', TRACK)}
MONOTONIC = 3
SLICE_BEGIN, SLICE_END, COUNTER_VALUE = 1, 2, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if not byte & 0x80:
            true(shift <= 70 and value < 1 << 64, 'a varint longer than 64 bits')
            return value, at


def decode(data, schema):
    """A message as a dictionary; repeated members become lists. Unknown ones are an error."""
    message = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        true(number in schema, f'field {number} is not one of {sorted(schema)}')
        name, kind = schema[number]
        if wire == 0:
            equal(kind, int, f'type of {name}')
            value, at = varint(data, at)
        elif wire == 1:
            equal(kind, float, f'type of {name}')
            value = struct.unpack_from('<d', data, at)[0]
            at += 8
        else:
            equal(wire, 2, 'wire type')
            size, at = varint(data, at)
            true(at + size <= len(data), f'{name} is cut')
            part = data[at:at + size]
            value = part.decode('utf-8') if kind is str else decode(part, kind)
            at += size
        if name == 'clocks':
            message.setdefault(name, []).append(value)
        else:
            true(name not in message, f'{name} twice')
            message[name] = value
    return message


def packets(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        equal(key, 1 << 3 | 2, 'field of the trace')
        size, at = varint(data, at)
        true(at + size <= len(data), 'the last packet is cut')
        yield decode(data[at:at + size], PACKET)
        at += size


class Trace:
    """Tracks by uuid; counters and slices by track."""

    def __init__(self, data):
        self.tracks = {}
        self.counters = {}  # uuid: [(t_ns, value)]
        self.slices = {}  # uuid: [(t0_ns, t1_ns, name)]
        self.clocks = None
        opened = {}
        for i, packet in enumerate(packets(data)):
            equal(packet['trusted_packet_sequence_id'], 1, 'sequence')
            equal(packet.get('sequence_flags'), 1 if i == 0 else None, 'the state begins once')
            if 'clock_snapshot' in packet:
                true(self.clocks is None, 'clocks twice')
                self.clocks = packet['clock_snapshot']
            elif 'track_descriptor' in packet:
                self.add_track(packet['track_descriptor'])
            elif 'track_event' in packet:
                equal(packet['timestamp_clock_id'], MONOTONIC, 'clock of an event')
                self.add_event(packet['timestamp'], packet['track_event'], opened)
        true(not any(opened.values()), f'slices without an end: {opened}')
        true(self.clocks is not None, 'no clocks')

    def add_track(self, track):
        true(track['uuid'] != 0, 'a track with uuid 0')
        if track['uuid'] in self.tracks:
            equal(track, self.tracks[track['uuid']], 'a track told again')
        if 'parent_uuid' in track:
            true(track['parent_uuid'] in self.tracks, f'the parent of {track} comes later')
        self.tracks[track['uuid']] = track

    def add_event(self, t_ns, event, opened):
        uuid = event['track_uuid']
        true(uuid in self.tracks, f'an event on the unknown track {uuid}')
        is_counter = 'counter' in self.tracks[uuid]
        equal(is_counter, event['type'] == COUNTER_VALUE, f'counter event on {self.tracks[uuid]}')
        if is_counter:
            values = self.counters.setdefault(uuid, [])
            true(not values or t_ns > values[-1][0], 'a counter that goes back in time')
            values.append((t_ns, event['value']))
        elif event['type'] == SLICE_BEGIN:
            true(not opened.get(uuid), 'slices that overlap')
            opened[uuid] = [(t_ns, event['name'])]
        else:
            equal(event['type'], SLICE_END, 'type of an event')
            t0_ns, name = opened[uuid].pop()
            true(t_ns > t0_ns, 'a slice without length')
            self.slices.setdefault(uuid, []).append((t0_ns, t_ns, name))

    def group(self, name):
        """The counters below the track of this name: name: uuid."""
        top = [uuid for uuid, track in self.tracks.items()
               if track.get('name') == name and 'parent_uuid' not in track]
        equal(len(top), 1, f'tracks with the name {name}')
        return {track['name']: uuid for uuid, track in self.tracks.items()
                if track.get('parent_uuid') == top[0]}

    def energy_j(self, uuid, end_ns):
        """A counter holds its value until the next one."""
        values = self.counters.get(uuid, []) + [(end_ns, 0)]
        return sum(value * (until - since) / 1e9
                   for (since, value), (until, _) in zip(values, values[1:]) if until > since)


def official():
    """The messages that Perfetto's own package has; installed beside the builds, if it can be."""
    folder = os.path.join(TOP, 'build-perfetto')
    if not os.path.isdir(os.path.join(folder, 'perfetto')):
        done = subprocess.run([sys.executable, '-m', 'venv', folder + '-venv'], check=False,
                              capture_output=True, text=True)
        if done.returncode == 0:
            done = subprocess.run([os.path.join(folder + '-venv', 'bin', 'pip'), 'install', '-q',
                                   '--target', folder, 'perfetto', 'protobuf'],
                                  check=False, capture_output=True, text=True, timeout=120)
        if done.returncode:
            words = (done.stderr.strip() or done.stdout.strip() or 'no words').splitlines()[-1]
            raise Skip(f"missing: the package 'perfetto': {words}")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise Skip(f"missing: the messages of the package 'perfetto': {error}") from error
    return perfetto_trace_pb2


if __name__ == '__main__':
    # Whoever runs tests has them fetched before.
    try:
        official()
    except Skip as why:
        print(why)
        sys.exit(77)
