import { type ArgumentsHost, Catch, HttpException, HttpStatus } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { WorkflowError } from 'nestjs-workflow-engine';

const STATUS_OF: Readonly<Record<string, HttpStatus>> = {
  INVALID_INPUT: HttpStatus.BAD_REQUEST,
  INVALID_OPTIONS: HttpStatus.BAD_REQUEST,
  INVALID_GRAPH: HttpStatus.UNPROCESSABLE_ENTITY,
  APPROVAL_NOT_FOUND: HttpStatus.NOT_FOUND,
  NOT_AN_APPROVER: HttpStatus.FORBIDDEN,
  ALREADY_DECIDED: HttpStatus.CONFLICT,
  ROUND_CLOSED: HttpStatus.CONFLICT,
};

/** Answers with the code and the sentence of an error of the engine that is the caller's affair; leaves the others to Nest. */
@Catch()
export class ErrorFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    const status = WorkflowError.is(error) ? STATUS_OF[error.code] : undefined;
    if (!WorkflowError.is(error) || !status) return super.catch(error, host);
    super.catch(new HttpException({ code: error.code, message: error.message }, status), host);
  }
}
