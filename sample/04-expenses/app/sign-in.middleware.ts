import { Injectable, type NestMiddleware } from '@nestjs/common';
import { WorkflowContext } from 'nestjs-workflow-engine';

interface Request {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Says who asks: the header stands for your session or token. */
@Injectable()
export class SignIn implements NestMiddleware {
  constructor(private readonly context: WorkflowContext) {}

  use({ headers }: Request, _response: unknown, next: () => void): void {
    const member = headers['x-member'];
    if (typeof member === 'string') this.context.setActor({ id: member });
    next();
  }
}
