import { type ArgumentsHost, Catch, HttpException, HttpStatus } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { WorkflowError } from 'nestjs-workflow-engine';

const STATUS_OF: Readonly<Record<string, HttpStatus>> = {
  RUN_NOT_FOUND: HttpStatus.NOT_FOUND,
  RUN_ENDED: HttpStatus.CONFLICT,
  RUN_NOT_CANCELLABLE: HttpStatus.CONFLICT,
  IDEMPOTENCY_CONFLICT: HttpStatus.CONFLICT,
  INVALID_EVENT: HttpStatus.BAD_REQUEST,
  INVALID_INPUT: HttpStatus.BAD_REQUEST,
  SHUTTING_DOWN: HttpStatus.SERVICE_UNAVAILABLE,
};

/** Answers with the code and the sentence of an error of the engine that is the caller's affair; leaves the others to Nest. */
@Catch()
export class ErrorFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    const coded = WorkflowError.is(error) ? error : undefined;
    const status = coded && STATUS_OF[coded.code];
    super.catch(status ? new HttpException({ code: coded.code, message: coded.message }, status) : error, host);
  }
}
