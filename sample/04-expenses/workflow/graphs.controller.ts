import { Body, Controller, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { DefinitionsService, type DefinitionCheck, type DryRun } from 'nestjs-workflow-engine';

interface DryRunBody {
  readonly graph: object;
  readonly input: unknown;
  readonly expense?: string;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly outcomes?: Readonly<Record<string, string>>;
}

/** For who writes graphs: what is wrong with one, what it would do, and into force with it. Yours would ask who calls. */
@Controller('graphs')
export class GraphsController {
  constructor(private readonly definitions: DefinitionsService) {}

  @Post('validate')
  @HttpCode(HttpStatus.OK)
  validate(@Body() graph: object): Promise<DefinitionCheck> {
    return this.definitions.validate(graph);
  }

  @Post('dry-run')
  @HttpCode(HttpStatus.OK)
  dryRun(@Body() { graph, input, expense, ...given }: DryRunBody): Promise<DryRun> {
    const subject = expense === undefined ? {} : { subject: { type: 'expense', id: expense } };
    return this.definitions.dryRun(graph, input, { ...given, ...subject });
  }

  @Post()
  publish(@Body() graph: object): Promise<{ version: number }> {
    return this.definitions.publish(graph);
  }
}
