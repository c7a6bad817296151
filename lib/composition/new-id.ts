import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import type { NextId } from '../engine/ports/index.js';

const ID_BYTES = 16;
/** Random bytes are asked for in blocks: one call of the system for 512 ids, where each alone cost ten times the id. */
const BLOCK_BYTES = 512 * ID_BYTES;
const MAX_SEQUENCE = 0x7fff_ffff;

/** Makes UUIDv7 in strictly rising order within this process, within one millisecond too. */
export function createNextId(now: () => number = Date.now): NextId {
  const block = Buffer.alloc(BLOCK_BYTES);
  let at = BLOCK_BYTES;
  let last = -1;
  let sequence = 0;
  return () => {
    if (at === BLOCK_BYTES) {
      randomFillSync(block);
      at = 0;
    }
    const random = block.subarray(at, (at += ID_BYTES));
    const clock = now();
    if (clock > last || sequence === MAX_SEQUENCE) {
      last = Math.max(clock, last + (clock > last ? 0 : 1));
      // From the lower half, so that a millisecond has room for two thousand million ids.
      sequence = random.readUInt32BE(6) >>> 2;
    } else sequence += 1;
    return v7({ random, msecs: last, seq: sequence });
  };
}
