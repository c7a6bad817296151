import { cleanText } from './clean-text.js';

const FRAME = '\n    at ';
const MAX_FRAME_LENGTH = 300;
/** The class's name and a colon before the message. */
const MAX_HEADER_LENGTH = 200;
/** Frames are looked for in this much of the text behind the message, at 100 or more letters a frame. */
const WINDOW_LENGTH = 32_000;

/**
 * The first frames of a stack, a line each, without the message above them (which may have lines, and megabytes, of its
 * own). A stack without frames is no help: undefined.
 */
export function stackFrames(stack: unknown, message: string, maxFrames: number): string | undefined {
  if (typeof stack !== 'string') return undefined;
  const start = stack.indexOf(FRAME, endOfMessage(stack, message));
  if (start === -1) return undefined;
  const lines = stack.slice(start + 1, start + 1 + WINDOW_LENGTH).split('\n', maxFrames);
  return lines.map((line) => cleanText(line, MAX_FRAME_LENGTH)).join('\n');
}

/**
 * Where the message ends that a stack begins with, behind the name of its class; frames it quotes end before that. Its
 * beginning is compared, not all of it: searching 50 MB in 50 MB takes half a second.
 */
function endOfMessage(stack: string, message: string): number {
  const beginning = message.slice(0, 100);
  const at = stack.slice(0, MAX_HEADER_LENGTH + beginning.length).indexOf(beginning);
  return at === -1 ? 0 : at + message.length;
}
