import { WakeService, WorkflowContext, WorkflowHost, WorkflowService } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { withApp } from '../app.js';
import { AT_ONCE, flowOf, stageOf } from './scenes.js';

it("WAKE-4: a wake evaluates nothing: it hands ids to jobs, and those run in the owner's context", async () => {
  const loaded: string[] = [];
  const asked: string[] = [];
  const seen: unknown[] = [];
  let context: WorkflowContext | undefined;
  const Fails = stageOf('fails', (ctx) => {
    if (ctx.attempt === 1) throw new Error('later');
    seen.push([ctx.owner, context?.currentOwnerId(), context?.currentRun()?.id === ctx.run.id]);
  });
  const Flow = flowOf('flow', [Fails], { retry: { ...AT_ONCE, backoff: ['1h'] } });
  const owners = {
    load: (id: string) => (loaded.push(id), { team: id }),
    resolve: () => (asked.push('resolve'), null),
  };
  await withApp({ providers: [Fails, Flow], workflow: { worker: false, owners } }, async (app) => {
    const [workflows, wake, host] = [app.get(WorkflowService), app.get(WakeService), app.get(WorkflowHost)];
    context = app.get(WorkflowContext);
    await workflows.start(Flow, null, { owner: 'team-a', delay: '1h' });
    await workflows.start(Flow, null, { owner: 'team-b' });
    await host.processAvailable();
    expect(loaded).toEqual(['team-b']);
    const [others] = [asked.length];

    // A delayed start, a retry and a lease that is over: all that a pass has to do with stages.
    await workflows.start(Flow, null, { owner: 'team-c' });
    await app.get(DataSource)
      .query(`UPDATE workflow_jobs SET state = 1, claim_token = gen_random_uuid(), locked_by = 'dead',
      locked_at = now() - interval '1 hour', started_at = now() - interval '30 minutes' WHERE owner_id = 'team-c'`);
    await app.get(DataSource)
      .query(`UPDATE workflow_stage_runs s SET status = 'RUNNING', attempt = 1, started_at = j.started_at,
      claim_token = j.claim_token, worker_id = 'dead' FROM workflow_jobs j WHERE j.stage_run_id = s.id AND s.owner_id = 'team-c'`);
    const inTwoHours = new Date(Date.now() + 2 * 3_600_000);
    await expect(wake.wake(inTwoHours)).resolves.toMatchObject({ retries: 1, reclaimed: 1, errors: [] });
    expect(loaded).toEqual(['team-b']);
    expect(asked).toHaveLength(others);
    expect(seen).toEqual([]);

    await host.processAvailable();
    expect(loaded.slice(1).sort()).toEqual(['team-a', 'team-b', 'team-c']);
    expect(seen).toEqual([[{ team: 'team-b' }, 'team-b', true]]);
  });
});
