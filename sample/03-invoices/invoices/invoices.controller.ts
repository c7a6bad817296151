import { BadRequestException, Body, Controller, Get, HttpCode, Param, ParseUUIDPipe, Post } from '@nestjs/common';
import { z } from 'zod';
import { Invoices } from './invoices.service.js';

const newInvoice = z.object({ customer: z.string().min(1), amount: z.number().int().positive() });
const retry = z.object({ reason: z.string().min(1) });

@Controller('invoices')
export class InvoicesController {
  constructor(private readonly invoices: Invoices) {}

  @Post()
  create(@Body() body: unknown) {
    const { customer, amount } = parse(newInvoice, body);
    return this.invoices.create(customer, amount);
  }

  @Get()
  list() {
    return this.invoices.list();
  }

  @Get(':id')
  get(@Param('id', ParseUUIDPipe) id: string) {
    return this.invoices.get(id);
  }

  /** Answers when its run has ended. */
  @Get(':id/ended')
  ended(@Param('id', ParseUUIDPipe) id: string) {
    return this.invoices.ended(id);
  }

  @Post(':id/retry')
  @HttpCode(202)
  retry(@Param('id', ParseUUIDPipe) id: string, @Body() body: unknown) {
    return this.invoices.retry(id, parse(retry, body).reason);
  }
}

@Controller('audit')
export class AuditController {
  constructor(private readonly invoices: Invoices) {}

  @Get()
  list() {
    return this.invoices.asked();
  }
}

function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  throw new BadRequestException({ code: 'INVALID_BODY', message: z.prettifyError(error) });
}
