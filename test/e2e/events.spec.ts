import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { OnWorkflowEvent, WorkflowContext, WorkflowService, type WorkflowEvent } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { signal, withApp } from './app.js';
import { GREETING, Greeting } from './greeting.js';

@Injectable()
class Emitted {
  readonly heard: string[] = [];
  readonly completed = signal<WorkflowEvent>();

  @OnEvent('workflow.run:started')
  onStarted(event: WorkflowEvent): void {
    this.heard.push(event.type);
  }

  @OnEvent('workflow.run:completed')
  onCompleted(event: WorkflowEvent): void {
    this.heard.push(event.type);
    this.completed.resolve(event);
  }
}

@Injectable()
class Flaky {
  readonly calls: string[] = [];
  readonly through = signal();

  @OnWorkflowEvent('run:completed')
  first(event: WorkflowEvent<'run:completed'>): void {
    this.calls.push(`first ${event.type}`);
  }

  @OnWorkflowEvent('run:completed')
  second(event: WorkflowEvent<'run:completed'>): void {
    this.calls.push(`second ${event.type}`);
    if (this.calls.filter((call) => call.startsWith('second')).length === 1) throw new Error('not yet');
    this.through.resolve();
  }
}

@Injectable()
class Broken {
  readonly calls: string[] = [];

  @OnWorkflowEvent('run:completed')
  handle(event: WorkflowEvent<'run:completed'>): void {
    this.calls.push(event.run.id);
    throw new Error('never works');
  }
}

@Injectable()
class Starter {
  constructor(
    private readonly workflows: WorkflowService,
    private readonly context: WorkflowContext,
  ) {}

  @OnWorkflowEvent('run:completed')
  async follow({ run, owner }: WorkflowEvent<'run:completed'>): Promise<void> {
    if (owner !== 'team-a' || this.context.currentRun()?.id !== run.id) return;
    await this.workflows.start(Greeting, { name: 'the follower' }, { idempotencyKey: `after ${run.id}` });
  }
}

describe('events', () => {
  it('EVT-1: reach EventEmitter2 where the host has it', async () => {
    await withApp({ imports: [EventEmitterModule.forRoot()], providers: [...GREETING, Emitted] }, async (app) => {
      expect(app.get(EventEmitter2, { strict: false })).toBeDefined();
      const { run } = await app.get(WorkflowService).start(Greeting, { name: 'Ada' });
      const emitted = app.get(Emitted);
      await expect(emitted.completed.promise).resolves.toMatchObject({ run: { id: run.id } });
      expect(emitted.heard).toEqual(['run:started', 'run:completed']);
    });
  });

  it('EVT-1: a handler that failed is tried again, one that did not is not', async () => {
    const workflow = { outbox: { backoff: [1] } };
    await withApp({ workflow, providers: [...GREETING, Flaky] }, async (app) => {
      await app.get(WorkflowService).start(Greeting, { name: 'Ada' });
      const flaky = app.get(Flaky);
      await flaky.through.promise;
      expect(flaky.calls).toEqual(['first run:completed', 'second run:completed', 'second run:completed']);
    });
  });

  it('EVT-1: what no try can deliver is a dead letter, which an operator replays', async () => {
    const workflow = { outbox: { maxAttempts: 1 } };
    const tester = await WorkflowTester.create({ store: 'memory', workflow, providers: [...GREETING, Broken] });
    const operator = tester.app.get(WorkflowService).asOperator();
    const run = await tester.start(Greeting, { name: 'Ada' }, { owner: 'team-a' });
    await tester.drain();
    const letters = await operator.deadLetters();
    expect(letters).toMatchObject([
      { runId: run.id, definition: 'greeting', owner: 'team-a', error: expect.stringContaining('never works') },
    ]);
    expect(letters[0]!.events.map(({ type }) => type)).toContain('run:completed');
    await expect(operator.replayDeadLetters(letters.map(({ id }) => id))).resolves.toBe(1);
    await tester.drain();
    expect(tester.app.get(Broken).calls).toEqual([run.id, run.id]);
    await expect(operator.replayDeadLetters(['x'])).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(operator.deadLetters(0)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await tester.close();
  });

  it('OWNER-2: a run that a handler starts belongs to the owner of the event', async () => {
    await withApp({ providers: [...GREETING, Starter] }, async (app) => {
      const workflows = app.get(WorkflowService);
      const events = workflows.asOperator().events();
      const both = firstValueFrom(
        events.pipe(
          filter(({ type }) => type === 'run:started'),
          take(2),
          toArray(),
        ),
      );
      const { run } = await workflows.start(Greeting, { name: 'Ada' }, { owner: 'team-a' });
      const [own, followers] = await both;
      expect(own!.run.id).toBe(run.id);
      expect(followers!.run.id).not.toBe(run.id);
      expect(followers!.owner).toBe('team-a');
    });
  });
});
