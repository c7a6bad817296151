import { readSafely } from '../codec/read-safely.js';
import { thrownMessage } from '../codec/thrown-text.js';
import type { ExpressionFault } from './allowed-calls.js';

/** What is wrong, and where it begins if that is known. */
export type LibraryFault = Pick<ExpressionFault, 'message'> & Partial<ExpressionFault>;

/** What the library complains of, in our words. */
export function faultOf(error: unknown): LibraryFault {
  const summary = readSafely(error, 'summary');
  const start = readSafely(readSafely(error, 'range'), 'start');
  return {
    message: (typeof summary === 'string' ? summary : thrownMessage(error))
      .replace(/\.$/, '')
      .replace(/\$(input|output)\d*/g, '$1')
      // Whoever wrote invoice.paid for a key meant a text.
      .replace(/^Unknown variable: .*$/, '$&; a text stands in quotes')
      .replace(
        /^found no matching overload for .*\bdouble\b.*$/,
        '$&; numbers of JSON are double, int() makes whole ones',
      ),
    ...(typeof start === 'number' ? { at: start } : {}),
  };
}
