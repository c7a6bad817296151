import { Body, Controller, Get, Headers, NotFoundException, Param, ParseUUIDPipe, Post } from '@nestjs/common';
import { Expenses, type ExpenseView } from './expenses.service.js';

@Controller('expenses')
export class ExpensesController {
  constructor(private readonly expenses: Expenses) {}

  @Post()
  file(
    @Headers('x-member') member: string,
    @Body() { amount, purpose }: { amount: number; purpose: string },
  ): Promise<{ id: string; runId: string }> {
    return this.expenses.file(member, amount, purpose);
  }

  @Get(':id')
  async view(@Param('id', ParseUUIDPipe) id: string): Promise<ExpenseView> {
    const view = await this.expenses.view(id);
    if (!view) throw new NotFoundException(`There is no expense ${id}.`);
    return view;
  }
}
