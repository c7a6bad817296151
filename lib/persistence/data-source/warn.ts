import { Logger } from '@nestjs/common';

/** Tells operators what the engine has worked around; nothing here is an error of a caller. */
export type Warn = (message: string) => void;

/** @param who the logger's context: a class name */
export function warnByLogger(who: string): Warn {
  const logger = new Logger(who);
  return (message) => logger.warn(message);
}
