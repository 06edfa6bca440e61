// Draws media/icon.png, 128 by 128: a lens over code in which some words are notes. The PNG is checked in; run
// `node scripts/icon.mjs` after a change here.
import { writeFileSync } from 'node:fs';
import { deflateSync, crc32 } from 'node:zlib';

const SIZE = 128;
const SAMPLES = 4; // per side of a pixel: smooth edges
const CLEAR = [0, 0, 0, 0];
const BACKGROUND = [30, 41, 59, 255];
const GLASS = [51, 65, 85, 255];
const RIM = [94, 234, 212, 255];
const CODE = [148, 163, 184, 255];
const NOTE = [251, 191, 36, 255];

/** Bars with round ends, 8 high: [left, right, middle, colour]. */
const BARS = [
  [38, 56, 44, CODE],
  [66, 70, 44, NOTE],
  [38, 64, 54, NOTE],
  [44, 70, 64, CODE],
];

function colourAt(x, y) {
  if (Math.hypot(Math.max(24 - x, 0, x - 104), Math.max(24 - y, 0, y - 104)) > 24) return CLEAR;
  const distance = Math.hypot(x - 54, y - 54);
  const along = (x + y) / 2 - 82;
  if ((distance >= 30 && distance <= 38) || (along >= 0 && along <= 24 && Math.abs(x - y) <= 8)) return RIM;
  if (distance > 30) return BACKGROUND;
  const bar = BARS.find(([left, right, middle]) => Math.hypot(x - Math.min(Math.max(x, left), right), y - middle) <= 4);
  return bar === undefined ? GLASS : bar[3];
}

function pixel(column, row) {
  const sum = [0, 0, 0, 0];
  for (let sample = 0; sample < SAMPLES * SAMPLES; sample += 1) {
    const x = column + ((sample % SAMPLES) + 0.5) / SAMPLES;
    const y = row + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES;
    const [red, green, blue, alpha] = colourAt(x, y);
    sum[0] += red * alpha;
    sum[1] += green * alpha;
    sum[2] += blue * alpha;
    sum[3] += alpha;
  }
  if (sum[3] === 0) return CLEAR;
  return [sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3], sum[3] / (SAMPLES * SAMPLES)].map(Math.round);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const header = Buffer.alloc(13);
header.writeUInt32BE(SIZE, 0);
header.writeUInt32BE(SIZE, 4);
header.set([8, 6, 0, 0, 0], 8); // 8 bits, RGBA
const rows = Array.from({ length: SIZE }, (_, row) =>
  Buffer.from([0, ...Array.from({ length: SIZE }, (__, column) => pixel(column, row)).flat()]),
);
writeFileSync(
  new URL('../media/icon.png', import.meta.url),
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]),
);
