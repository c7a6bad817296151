import { readSafely } from './read-safely.js';

const MAX_PARTS = 5;

/** The message of whatever was thrown, at its full length. Never throws. */
export function thrownMessage(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error === 'function') return 'A function was thrown.';
  if (typeof error !== 'object' || error === null) return `${String(error)} was thrown.`;
  const message = readSafely(error, 'message');
  if (typeof message === 'string' && message !== '') return message;
  // What Node throws when every address of a host refused: an AggregateError with an empty message.
  const parts = messagesOf(readSafely(error, 'errors'));
  if (parts !== '') return parts;
  if (message === '') return codeText(error);
  return typeof message === 'number' || typeof message === 'boolean' ? String(message) : 'An object was thrown.';
}

/** The name of the class of what was thrown. */
export function thrownName(error: unknown): string {
  if (typeof error !== 'object' || error === null || !isErrorLike(error)) return 'NonError';
  const name = readSafely(error, 'name');
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

function isErrorLike(error: object): boolean {
  return typeof readSafely(error, 'message') === 'string' || typeof readSafely(error, 'stack') === 'string';
}

function messagesOf(errors: unknown): string {
  const messages: string[] = [];
  for (let at = 0; at < MAX_PARTS; at++) {
    const message = readSafely(readSafely(errors, at), 'message');
    if (typeof message === 'string' && message !== '') messages.push(message.slice(0, 1_000));
  }
  return messages.join('; ');
}

function codeText(error: object): string {
  const code = readSafely(error, 'code');
  return typeof code === 'string' ? code : '';
}
