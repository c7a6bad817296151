import { Controller, HttpCode, HttpException, Inject, Param, Post, Req, Res, type Type } from '@nestjs/common';
import type { WebhookAnswer, WebhookReceiver } from '../services/webhooks/webhook-receiver.js';
import { rawBodyOf, type WebhookRequest } from './raw-body.js';

export const WEBHOOK_RECEIVER = Symbol.for('nestjs-workflow-engine:webhook-receiver');

/** What both Express and Fastify have. */
interface WebhookResponse {
  header(name: string, value: string): unknown;
}

export interface WebhookRoute {
  readonly path: string;
  readonly maxBytes: number;
  /** Of the host's: what lets calls past his global guards, for one. */
  readonly decorators: readonly ClassDecorator[];
}

/** A class of its own for each route: where a controller stands is a property of its class. */
export function webhooksController({ path, maxBytes, decorators }: WebhookRoute): Type {
  @Controller(path)
  class WorkflowWebhooksController {
    constructor(@Inject(WEBHOOK_RECEIVER) private readonly receiver: Pick<WebhookReceiver, 'receive'>) {}

    @Post(':hook')
    @HttpCode(202)
    async receive(
      @Param('hook') hook: string,
      @Req() request: WebhookRequest,
      @Res({ passthrough: true }) response: WebhookResponse,
    ): Promise<WebhookAnswer['body']> {
      const raw = await rawBodyOf(request, maxBytes);
      if (raw.kind === 'too large') {
        // What is still on its way is not read any more.
        response.header('Connection', 'close');
        throw refusal(413, 'BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes.`);
      }
      if (raw.kind === 'gone')
        throw refusal(400, 'BODY_INCOMPLETE', 'The connection was closed before the body was there.');
      if (raw.kind === 'parsed') throw refusal(415, 'UNSUPPORTED_BODY', PARSED);
      if (raw.kind === 'encoded') throw refusal(415, 'UNSUPPORTED_BODY', 'Send the body without Content-Encoding.');
      const answer = await this.receiver.receive({ hook, headers: headersOf(request), body: raw.body });
      if (answer.retryAfterSeconds !== undefined) response.header('Retry-After', String(answer.retryAfterSeconds));
      if (answer.status === 202) return answer.body;
      throw new HttpException({ statusCode: answer.status, ...answer.body }, answer.status);
    }
  }
  for (const decorate of decorators) decorate(WorkflowWebhooksController);
  return WorkflowWebhooksController;
}

const PARSED =
  "Only the parsed body is left, which no signature can be checked on. Set rawBody: true in NestFactory.create (on Fastify that keeps JSON and forms: other types need a parser that leaves a Buffer, and app.useBodyParser ends it), or keep body parsers off the webhooks' path.";

const refusal = (status: number, code: string, message: string): HttpException =>
  new HttpException({ statusCode: status, code, message }, status);

/** One that was sent twice counts as not sent: nobody knows which was meant. */
function headersOf({ headers }: WebhookRequest): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), typeof value === 'string' ? value : undefined]),
  );
}
