import type { Hint } from '../../engine/ports/notifier.js';

/** What NOTIFY takes is below 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_900;

/** On the wire: `{"s":"…","w":1,"e":1,"c":["…"],"f":["…"]}`; `{"p":"…"}` is a listener's message to itself. */
interface WireHint {
  /** Who sends: what a process says itself it knows already. Absent where it is said at the commit of a host's transaction. */
  s?: string;
  w?: 1;
  e?: 1;
  c?: string[];
  f?: string[];
}

type IdList = 'c' | 'f';

/** A hint as payloads that NOTIFY takes, ids spread over several where need be. An id too long for any is left out. */
export function encodeHint(hint: Hint, sender?: string): string[] {
  const payloads: string[] = [];
  const from: WireHint = sender === undefined ? {} : { s: sender };
  let current: WireHint = { ...from, ...(hint.work && { w: 1 }), ...(hint.events && { e: 1 }) };
  let size = JSON.stringify({ ...from, w: 1, e: 1, c: [], f: [] }).length;
  const begin = size;
  const add = (list: IdList, id: string): void => {
    const bytes = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (begin + bytes > MAX_PAYLOAD_BYTES) return;
    if (size + bytes > MAX_PAYLOAD_BYTES) {
      payloads.push(JSON.stringify(current));
      [current, size] = [{ ...from }, begin];
    }
    (current[list] ??= []).push(id);
    size += bytes;
  };
  for (const id of hint.cancelled ?? []) add('c', id);
  for (const id of hint.finished ?? []) add('f', id);
  if (current.w || current.e || current.c || current.f) payloads.push(JSON.stringify(current));
  return payloads;
}

export function encodePing(id: string): string {
  return JSON.stringify({ p: id });
}

/** What a payload says; undefined for what is none of ours. Anybody may NOTIFY on a channel, so nothing is trusted. */
export function decodePayload(
  payload: string | undefined,
): { readonly hint: Hint; readonly sender?: string } | { readonly ping: string } | undefined {
  let wire: unknown;
  try {
    wire = JSON.parse(payload ?? '');
  } catch {
    return undefined;
  }
  if (typeof wire !== 'object' || wire === null) return undefined;
  const { s, w, e, c, f, p } = wire as Record<string, unknown>;
  if (typeof p === 'string') return { ping: p };
  const hint: Hint = {
    ...(w === 1 && { work: true }),
    ...(e === 1 && { events: true }),
    ...(isIdList(c) && { cancelled: c }),
    ...(isIdList(f) && { finished: f }),
  };
  if (Object.keys(hint).length === 0) return undefined;
  return typeof s === 'string' ? { hint, sender: s } : { hint };
}

function isIdList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string');
}
