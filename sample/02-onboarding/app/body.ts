import { applyDecorators, BadRequestException, Body, type PipeTransform } from '@nestjs/common';
import { ApiBadRequestResponse, ApiBody, type ApiBodyOptions } from '@nestjs/swagger';
import { z } from 'zod';

class ParseBody<S extends z.ZodType> implements PipeTransform<unknown, z.output<S>> {
  constructor(private readonly schema: S) {}

  transform(body: unknown): z.output<S> {
    const { success, data, error } = this.schema.safeParse(body ?? {});
    if (success) return data;
    throw new BadRequestException({ code: 'INVALID_BODY', message: z.prettifyError(error) });
  }
}

/** The request's body as the schema parses it; what does not fit is answered 400 before anything is stored. */
export function ParsedBody(schema: z.ZodType): ParameterDecorator {
  return Body(new ParseBody(schema));
}

/** The same schema for the Swagger page. */
export function DescribeBody(schema: z.ZodType): MethodDecorator {
  const described = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });
  return applyDecorators(
    ApiBody({ schema: described as Extract<ApiBodyOptions, { schema: unknown }>['schema'] }),
    ApiBadRequestResponse({ description: 'INVALID_BODY' }),
  );
}
