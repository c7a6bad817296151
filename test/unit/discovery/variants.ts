import { Injectable } from '@nestjs/common';
import { Stage, Workflow } from '../../../lib/decorators/index.js';
import type { Flow } from '../../../lib/interfaces/index.js';
import { Greet, input, text, type Text } from './registry-app.js';

/** Not decorated: stands for the class it extends. */
@Injectable()
export class Greet2 extends Greet {}

/** What a test puts in the place of a stage. */
@Injectable()
export class FakeGreet {
  execute() {
    return 'fake';
  }
}

/** A stage and a workflow of one id; each call makes other classes of the same names. */
export function DuplicateOf(id: string, stage?: new () => { execute(ctx: Text): unknown }) {
  @Stage({ id, ...text })
  class Approve {
    execute(_ctx: Text): unknown {
      return true;
    }
  }

  @Workflow({ id, version: 1, input })
  class Approval {
    define(flow: Flow<typeof input>) {
      return flow.pipe(stage ?? Approve);
    }
  }
  return { Approve, Approval };
}
