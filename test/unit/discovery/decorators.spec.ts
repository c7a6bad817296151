import { Injectable, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OnWorkflowEvent, Stage } from '../../../lib/decorators/index.js';
import { METADATA_PREFIX, ON_WORKFLOW_EVENT_METADATA } from '../../../lib/workflow.constants.js';
import { text, type Text } from './registry-app.js';

abstract class Base {
  execute(_ctx: Text): unknown {
    return true;
  }
}

@Stage({ id: 'scoped-by-stage', ...text, scope: Scope.TRANSIENT })
class ByStage extends Base {}

@Stage({ id: 'scoped-by-nest', ...text })
@Injectable({ scope: Scope.TRANSIENT })
class ByNest extends Base {}

@Stage({ id: 'single', ...text })
class Single extends Base {}

describe('decorators', () => {
  it('DEF-1: the scope is what @Stage says, else what @Injectable said', async () => {
    const module = await Test.createTestingModule({ providers: [ByStage, ByNest, Single] }).compile();
    expect(() => module.get(ByStage)).toThrow();
    expect(() => module.get(ByNest)).toThrow();
    expect(module.get(Single)).toBeInstanceOf(Single);
  });

  it('FAULT H7: only metadata under keys of our own is written, and nothing is named after the class', () => {
    const keys = Reflect.getOwnMetadataKeys(Single).map(String);
    expect(keys.filter((key) => key.startsWith(METADATA_PREFIX))).toEqual([`${METADATA_PREFIX}stage`]);
    expect(Object.getOwnPropertyNames(Single.prototype)).toEqual(['constructor']);
    expect(JSON.stringify(Reflect.getMetadata(`${METADATA_PREFIX}stage`, Single))).not.toContain('Single');
  });

  it('EVT-1: event types of several decorators add up, each once', () => {
    class Listener {
      @OnWorkflowEvent('run:failed')
      @OnWorkflowEvent(['run:failed', 'run:cancelled'])
      ended() {}
    }
    expect(Reflect.getOwnMetadata(ON_WORKFLOW_EVENT_METADATA, Listener.prototype.ended)).toEqual([
      'run:failed',
      'run:cancelled',
    ]);
  });
});
