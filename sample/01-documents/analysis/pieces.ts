import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * No piece is longer, in UTF-16 code units. Intl.Segmenter's cost grows with the square of the string it is given
 * (178,000 characters at once: 86 s, line by line: 55 ms), so a text without line breaks has to be cut as well.
 */
export const LONGEST_PIECE = 2_000;

/** How many code units to work through before other work of the process gets a turn, heartbeats included. */
const TURN_LENGTH = 50_000;

/** Cuts a text at its line breaks, and a line that is too long at a space, or where it must be, between characters. */
export function* piecesOf(text: string, longest: number = LONGEST_PIECE): Generator<string> {
  for (let start = 0; start < text.length;) {
    const lineEnd = text.indexOf('\n', start);
    const end = lineEnd === -1 ? text.length : lineEnd;
    while (end - start > longest) {
      const cut = cutAt(text, start, longest);
      yield text.slice(start, cut);
      start = cut;
    }
    if (end > start) yield text.slice(start, end);
    start = end + 1;
  }
}

/** Calls `visit` for each piece, lets the event loop turn now and then, and stops when the signal aborts. */
export async function eachPiece(text: string, visit: (piece: string) => void, signal?: AbortSignal): Promise<void> {
  let sinceTurn = 0;
  for (const piece of piecesOf(text)) {
    visit(piece);
    sinceTurn += piece.length;
    if (sinceTurn > TURN_LENGTH) {
      sinceTurn = 0;
      await nextTurn();
      signal?.throwIfAborted();
    }
  }
}

function cutAt(text: string, start: number, longest: number): number {
  const space = text.lastIndexOf(' ', start + longest - 1);
  if (space > start) return space + 1;
  const cut = start + longest;
  const splitsPair = /[\ud800-\udbff]/.test(text[cut - 1]!) && /[\udc00-\udfff]/.test(text[cut] ?? '');
  return splitsPair && longest > 1 ? cut - 1 : cut;
}
