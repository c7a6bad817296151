import type { PipelineFlow } from '../../../../lib/engine/definition/index.js';
import { compile, complaintsOf, DEFAULTS, stageClass } from './pipelines.js';

const A = stageClass('a');
const B = stageClass('b');
class Stranger {}

type Define = (flow: PipelineFlow) => unknown;
const chain: Define = (flow) => flow.pipe(A);

describe('what is wrong with a pipeline', () => {
  it.each<[string, Define, string]>([
    ['an empty pipeline', (flow) => flow, 'the pipeline is empty'],
    ['an empty group', (flow) => flow.pipe(A).parallel({}), 'node 2 is a parallel group without branches'],
    ['a class that is no stage', (flow) => flow.pipe(Stranger), 'Stranger is no stage of this app'],
    ['an undefined class', (flow) => flow.pipe(undefined), 'the stage is undefined'],
    ['an undefined branch', (flow) => flow.parallel({ left: undefined }), 'the stage is undefined'],
    ['an instance', (flow) => flow.pipe(new A()), 'the stage is an object'],
    ['a condition that is no function', (flow) => flow.pipe(A, { when: true }), 'when is true'],
    [
      'a condition that answers later',
      (flow) => flow.pipe(A, { when: async () => false }),
      'when is an async function',
    ],
    ['a wrong policy', (flow) => flow.pipe(A, { retry: { maxAttempts: 0 } }), 'maxAttempts'],
    ['a wrong timeout', (flow) => flow.pipe(A, { timeout: '5 parsecs' }), 'timeout is not a duration'],
    ['a timeout of nothing', (flow) => flow.pipe(A, { timeout: 0 }), 'timeout is 0'],
    ['a wrong queue', (flow) => flow.pipe(A, { queue: ' ' }), 'queue " " is no name for a queue'],
    ['an unknown option', (flow) => flow.pipe(A, { retires: 3 }), 'there is no option "retires" here'],
    [
      'an unknown option of a branch',
      (flow) => flow.parallel({ l: { stage: A, key: 'x' } }),
      'there is no option "key" here',
    ],
    ['a key that can’t be used', (flow) => flow.pipe(A, { key: 'a@1' }), "has a key that can't be used"],
    ['a group’s key that can’t be used', (flow) => flow.parallel({ l: A }, { key: 7 }), "has a key that can't be used"],
    ['nothing returned', () => undefined, 'define(flow) returned undefined'],
    ['a flow that comes later', async (flow) => flow.pipe(A), 'define(flow) returned a Promise'],
    [
      'a define that throws',
      () => {
        throw new Error('no db here');
      },
      'define(flow) threw: no db here',
    ],
    [
      'a dropped call',
      (flow) => {
        flow.pipe(A);
        return flow.pipe(B);
      },
      'dropped the result of a call',
    ],
    [
      'a dropped last call',
      (flow) => {
        const all = flow.pipe(A);
        all.pipe(B);
        return all;
      },
      'dropped the result of a call',
    ],
  ])('DEF-3: %s', async (_, define, problem) => {
    const complaints = await complaintsOf(define);
    expect(complaints.map((complaint) => complaint.problem).join('\n')).toContain(problem);
    expect(complaints[0]?.place).toContain('Analysis (AppModule)');
  });

  it('DEF-3: a part of a flow may be used on, as long as nothing is dropped', async () => {
    const { definition } = await compile((flow) => {
      let all = flow.pipe(A);
      if (definitionWanted()) all = all.pipe(B);
      return all;
    });
    expect(definition.nodes).toHaveLength(2);
  });

  it.each<[string, object, string]>([
    ['id', { id: 'an id' }, '@Workflow has the id "an id"'],
    ['id', { id: undefined }, '@Workflow has the id undefined'],
    ['id', { id: 'x'.repeat(101) }, '@Workflow has the id "xxx'],
    ['version', { version: 0 }, 'the version 0'],
    ['version', { version: 1.5 }, 'the version 1.5'],
    ['version', { version: '1' }, 'the version "1"'],
    ['version', { version: NaN }, 'the version NaN'],
    ['version', { version: 2 ** 31 }, 'the version 2147483648'],
    ['retry', { settings: { retry: { maxAttempts: NaN } } }, 'maxAttempts'],
    ['deadline', { settings: { deadline: -1 } }, 'deadline is not a duration'],
    ['actor', { settings: { actor: 'me' } }, 'actor is "me"'],
    ['queue', { settings: { queue: 'a queue' } }, 'queue "a queue"'],
    ['limits', { settings: { limits: { maxStageRuns: 201 } } }, 'limits.maxStageRuns is 201'],
    ['limits', { settings: { limits: { maxStageRuns: 0 } } }, 'limits.maxStageRuns is 0'],
    ['limits', { settings: { limits: { maxSteps: 5 } } }, 'there is no option "maxSteps" here'],
  ])('DEF-3: a wrong %s of @Workflow: %j', async (_, source, problem) => {
    const complaints = await complaintsOf(chain, source);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]?.problem).toContain(problem);
  });

  it('LIMIT-1: more stages than maxStageRuns', async () => {
    const many: Define = (flow) =>
      flow.parallel(Object.fromEntries(Array.from({ length: 4 }, (_, at) => [`b${at}`, A])));
    const [complaint] = await complaintsOf(many, {}, { ...DEFAULTS, maxStageRuns: 3 });
    expect(complaint?.problem).toContain('it has 4 stages, and maxStageRuns is 3');
    await expect(compile(many, {}, { ...DEFAULTS, maxStageRuns: 4 })).resolves.toBeDefined();
  });

  it.each<[string, Define]>([
    ['a stage that stands twice', (flow) => flow.pipe(A).pipe(A)],
    ['keys that differ in case', (flow) => flow.pipe(A, { key: 'Review' }).pipe(B, { key: 'review' })],
    ['keys that differ in blanks', (flow) => flow.pipe(A, { key: 'review' }).pipe(B, { key: ' review' })],
    ['a branch named as a node', (flow) => flow.pipe(A).parallel({ A: B })],
    ['a group named as a node', (flow) => flow.pipe(A).parallel({ left: B }, { key: 'a' })],
    ['a group named as its branch', (flow) => flow.parallel({ left: B }, { key: 'LEFT' })],
    ['branches of two groups', (flow) => flow.parallel({ left: A }).parallel({ left: B })],
  ])('FAULT E12: two with one key: %s', async (_, define) => {
    const complaints = await complaintsOf(define);
    expect(complaints.filter(({ problem }) => problem.includes('have the same key'))).toHaveLength(1);
  });

  it('FAULT E12: a key of one’s own never collides with one that was chosen', async () => {
    const { definition } = await compile((flow) =>
      flow.parallel({ l: A }).pipe(B, { key: 'Parallel-1' }).parallel({ r: A }),
    );
    expect(definition.nodes.map(({ key }) => key)).toEqual(['parallel-2', 'Parallel-1', 'parallel-3']);
  });

  it('DEF-3: everything wrong is told at once, in order', async () => {
    const complaints = await complaintsOf(
      (flow) => flow.pipe(Stranger).pipe(A, { timeout: 'soon', when: 1 }).pipe(A).parallel({}),
      { version: 0, settings: { actor: 'me' } },
    );
    expect(complaints).toHaveLength(7);
    expect(new Set(complaints.map(({ place }) => place)).size).toBe(3);
  });
});

function definitionWanted(): boolean {
  return true;
}
