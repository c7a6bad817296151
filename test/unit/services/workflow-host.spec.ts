import type { DeliveredJob } from '../../../lib/services/index.js';
import { WorkflowHost } from '../../../lib/services/index.js';

const STAGE_RUN = '01900000-0000-7000-8000-000000000000';

function hostOf() {
  const handled: DeliveredJob[] = [];
  const handleJob = async (job: DeliveredJob) => {
    handled.push(job);
    return { ghost: false, status: 'COMPLETED' } as const;
  };
  const host = new WorkflowHost(async () => ({ handleJob }) as never);
  return { host, handled };
}

describe('handleJob', () => {
  it('JOB-5: takes what a message of a transport says, and less', async () => {
    const { host, handled } = hostOf();
    const message = { id: `${STAGE_RUN}:2`, kind: 'execute', stageRunId: STAGE_RUN, attempt: 2, priority: 0 } as const;
    await host.handleJob(message);
    await host.handleJob({ stageRunId: STAGE_RUN });
    expect(handled).toEqual([message, { stageRunId: STAGE_RUN }]);
  });

  it('JOB-5: says all that is wrong with it before the database is asked', async () => {
    const { host, handled } = hostOf();
    const wrong = { stageRunId: 'x', attempt: 0, delivery: 1.5, kind: 'other' } as unknown as DeliveredJob;
    await expect(host.handleJob(wrong)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      problems: ['stageRunId', 'attempt', 'delivery', 'kind'].map((path) => expect.objectContaining({ path })),
    });
    await expect(host.handleJob({ stageRunId: STAGE_RUN, attempt: 2 ** 31 })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
    await expect(host.handleJob({} as never)).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    expect(handled).toEqual([]);
  });
});
