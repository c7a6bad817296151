import { type ArgumentsHost, Catch, HttpException, HttpStatus } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { WorkflowError } from 'nestjs-workflow-engine';
import { DocumentFailure } from '../documents/document-failure.js';

const STATUS_OF: Readonly<Record<string, HttpStatus>> = {
  NO_SUCH_DOCUMENT: HttpStatus.NOT_FOUND,
  RUN_NOT_FOUND: HttpStatus.NOT_FOUND,
  RUN_NOT_CANCELLABLE: HttpStatus.CONFLICT,
  RUN_NOT_RETRYABLE: HttpStatus.CONFLICT,
  INVALID_OPTIONS: HttpStatus.BAD_REQUEST,
  INVALID_INPUT: HttpStatus.BAD_REQUEST,
  SHUTTING_DOWN: HttpStatus.SERVICE_UNAVAILABLE,
};

/** Answers with the code of an error that has one, and leaves the others to Nest. */
@Catch()
export class ErrorFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    const coded = WorkflowError.is(error) || error instanceof DocumentFailure ? error : undefined;
    const status = coded && STATUS_OF[coded.code];
    super.catch(status ? new HttpException({ code: coded.code, message: coded.message }, status) : error, host);
  }
}
