import { compile, dry, wayOf } from './dry-runs.js';

const stage = (id: string, of: object = {}): object => ({ id, type: 'work', ...of });
const end = (id: string, of: object = {}): object => ({ id, type: 'end', ...of });

/** An amount is asked about, a stage looks at it, people approve, it is paid. */
const EXPENSE = {
  id: 'expense',
  nodes: [
    { id: 'large', type: 'condition', config: { if: 'input.amount >= 1000' } },
    stage('check', { type: 'check', input: { amount: 'input.amount', of: 'subject.place' } }),
    { id: 'clean', type: 'condition', config: { if: 'output("check").score < 5' } },
    {
      id: 'sign',
      type: 'approval',
      config: { approvers: 'approvers.leads', rule: { atLeast: 2 }, expires: '5 days' },
      escalations: [
        { after: '4 days', action: { type: 'take_edge', outcome: 'rejected' } },
        { after: '2 days', action: { type: 'notify', to: ['cfo'] } },
      ],
    },
    stage('pay', { type: 'pay', input: { amount: 'input.amount', score: 'output("check").score' } }),
    end('paid', { config: { outcome: 'paid', output: { score: 'output("check").score' } } }),
    end('no', { config: { outcome: 'refused' } }),
  ],
  edges: [
    { from: 'large', outcome: 'true', to: 'check' },
    { from: 'large', outcome: 'false', to: 'pay' },
    { from: 'check', to: 'clean' },
    { from: 'clean', outcome: 'true', to: 'sign' },
    { from: 'clean', outcome: 'false', to: 'no' },
    { from: 'sign', outcome: 'approved', to: 'pay' },
    { from: 'sign', outcome: 'rejected', to: 'no' },
    { from: 'sign', outcome: 'expired', to: 'no' },
    { from: 'pay', to: 'paid' },
  ],
};
const types = { check: {}, pay: {}, work: {} };
const world = { subject: { place: 'Rome' }, subjectName: { type: 'expense', id: 'e1' } };
const approvers = { leads: ['ann', 'bob', 'cleo'] };

describe('dryRunGraph', () => {
  it('RUN-7: takes no name that objects have of themselves for what was said of a node', async () => {
    const nodes = [
      { id: 'constructor', type: 'condition', config: { if: 'output("toString").ok' } },
      stage('toString'),
      stage('valueOf', { when: 'output("toString").ok' }),
      end('end'),
    ];
    const edges = [
      { from: 'toString', to: 'constructor' },
      { from: 'constructor', outcome: 'true', to: 'valueOf' },
      { from: 'constructor', outcome: 'false', to: 'end' },
      { from: 'valueOf', to: 'end' },
    ];
    const told = await dry(await compile({ id: 'names', start: 'toString', nodes, edges }));
    expect(told.problems).toEqual([]);
    expect(wayOf(told)).toEqual(['toString done', 'constructor true', 'valueOf done', 'end done']);
  });

  it('RUN-7: asks the `when` of a loop as it is entered, and not at its turns', async () => {
    const nodes = [
      { id: 'each', type: 'loop', when: 'output("turn") == null', config: { forEach: 'owner == null ? [1, 2] : []' } },
      stage('turn'),
      end('end'),
    ];
    const edges = [
      { from: 'each', outcome: 'each', to: 'turn' },
      { from: 'turn', to: 'each' },
      { from: 'each', to: 'end' },
    ];
    const told = await dry(await compile({ id: 'turns', nodes, edges }), { outputs: { turn: 'turned' } });
    expect(wayOf(told)).toEqual(['each each', 'turn done', 'each#2 each', 'turn#2 done', 'each#3 done', 'end done']);
  });

  it('RUN-7: says what is not known, goes on as usual, and marks what follows', async () => {
    const told = await dry(await compile(EXPENSE, types), { input: { amount: 1200 }, world, approvers });
    expect(told).toEqual({
      ends: 'completed',
      outcome: 'paid',
      path: [
        {
          node: 'large',
          type: 'condition',
          visit: 1,
          would: 'Asks whether input.amount >= 1000: it holds, and goes on to check.',
          outcome: 'true',
        },
        {
          node: 'check',
          type: 'check',
          visit: 1,
          would: 'Runs the stage check, and goes on to clean.',
          outcome: 'done',
          given: { amount: 1200, of: 'Rome' },
          unknown: ['what it gives: it was not run'],
        },
        {
          node: 'clean',
          type: 'condition',
          visit: 1,
          would: 'Asks whether output("check").score < 5, which is not known: "true" is assumed, and goes on to sign.',
          outcome: 'true',
          unknown: [
            'what check gives is not known; say it in outputs',
            'where it goes on: "true" leads to sign or "false" leads to no',
          ],
        },
        {
          node: 'sign',
          type: 'approval',
          visit: 1,
          would: 'Asks ann, bob and cleo, of whom 2 must agree, within 5 d, and goes on to pay.',
          outcome: 'approved',
          unknown: [
            'how it ends: "approved" leads to pay, "rejected" leads to no, "expired" leads to no; "approved" is assumed',
          ],
          escalations: [
            'After 2 d, if it is still open: tells cfo.',
            'After 4 d, if it is still open: ends it with "rejected", on to no.',
          ],
          assumed: true,
        },
        {
          node: 'pay',
          type: 'pay',
          visit: 1,
          would: 'Runs the stage pay, and goes on to paid.',
          outcome: 'done',
          given: { amount: 1200 },
          unknown: [
            'its input, $.score: what check gives is not known; say it in outputs',
            'whether its input fits its schema',
            'what it gives: it was not run',
          ],
          assumed: true,
        },
        {
          node: 'paid',
          type: 'end',
          visit: 1,
          would: 'Ends the run with "paid".',
          outcome: 'paid',
          unknown: ['$.score: what check gives is not known; say it in outputs'],
          assumed: true,
        },
      ],
      problems: [],
    });
  });

  it('RUN-7: with outputs and outcomes nothing is assumed', async () => {
    const graph = await compile(EXPENSE, types);
    const given = { input: { amount: 1200 }, world, approvers, outputs: { check: { score: 3 }, pay: {}, sign: {} } };
    const told = await dry(graph, { ...given, outcomes: { sign: 'approved' } });
    expect(told).toMatchObject({ ends: 'completed', outcome: 'paid', output: { score: 3 } });
    expect(told.path.some(({ assumed, unknown }) => assumed || unknown)).toBe(false);
    expect(wayOf(await dry(graph, { ...given, outcomes: { sign: 'expired' } }))).toEqual([
      'large true',
      'check done',
      'clean true',
      'sign expired',
      'no refused',
    ]);
    const clean = await dry(graph, { ...given, outputs: { check: { score: 9 } } });
    expect(clean).toMatchObject({ ends: 'completed', outcome: 'refused' });
  });

  it('RUN-7: a round that nobody could pass fails here as it would there', async () => {
    const graph = await compile(EXPENSE, types);
    const given = { input: { amount: 1200 }, world, outputs: { check: { score: 3 } } };
    const one = await dry(graph, { ...given, approvers: { leads: ['ann'] } });
    expect(one).toMatchObject({ ends: 'failed', problems: [{ node: 'sign', code: 'APPROVAL_CANNOT_PASS' }] });
    const own = await dry(graph, { ...given, approvers: { leads: ['ann'] }, world: { ...world, requester: 'ann' } });
    expect(own).toMatchObject({ ends: 'failed', problems: [{ node: 'sign', code: 'NO_APPROVERS' }] });
    const unknown = await dry(graph, given);
    expect(unknown.path.find(({ node }) => node === 'sign')!.unknown).toContain(
      'who approvers.leads are: there is no such resolver',
    );
  });

  it("RUN-7: what a stage would be given is checked by the stage's own schema", async () => {
    const failure = { code: 'INVALID_INPUT', message: 'amount: too much.' };
    const told = await dry(await compile(EXPENSE, types), {
      input: { amount: 1200 },
      world,
      stages: { check: { ability: 'expenses.check', accept: () => Promise.resolve({ failure }) } },
    });
    expect(told).toMatchObject({ ends: 'failed', problems: [{ node: 'check', ...failure }] });
    expect(told.path.at(-1)).toMatchObject({ node: 'check', given: { amount: 1200, of: 'Rome' } });
  });

  it('RUN-7: what a worker is needed for fails where its subject cannot be looked at', async () => {
    const refused = { code: 'SUBJECT_MISSING', message: 'It is gone.' };
    const told = await dry(await compile(EXPENSE, types), { input: { amount: 5 }, world: { refused } });
    expect(wayOf(told)).toEqual(['large false', 'pay -']);
    expect(told).toMatchObject({ ends: 'failed', problems: [{ node: 'pay', code: 'SUBJECT_MISSING' }] });
  });

  it('RUN-7: expressions that give nothing, and loops over the limit, fail it where they would', async () => {
    const graph = await compile(EXPENSE, types);
    const told = await dry(graph, { input: { amount: 1200 }, world: { subject: {} } });
    expect(told).toMatchObject({ ends: 'failed', problems: [{ node: 'check', code: 'EXPRESSION_FAILED' }] });
    const loop = await compile({
      id: 'rounds',
      nodes: [{ id: 'round', type: 'loop', config: { count: 'input.times' } }, stage('turn'), end('end')],
      edges: [
        { from: 'round', outcome: 'each', to: 'turn' },
        { from: 'turn', to: 'round' },
        { from: 'round', to: 'end' },
      ],
    });
    const limits = { maxOutputBytes: 1_000, maxLoopIterations: 3, maxSteps: 100 };
    expect(await dry(loop, { input: { times: 4 }, limits })).toMatchObject({
      ends: 'failed',
      problems: [{ node: 'round', code: 'LOOP_LIMIT_EXCEEDED' }],
    });
    expect(wayOf(await dry(loop, { input: { times: 2 }, limits }))).toEqual([
      'round each',
      'turn done',
      'round#2 each',
      'turn#2 done',
      'round#3 done',
      'end done',
    ]);
    const open = await dry(loop, { input: { times: 3 }, limits: { ...limits, maxSteps: 4 } });
    expect(open.ends).toBe('open');
    expect(open.path).toHaveLength(4);
  });

  it('RUN-7: what may be otherwise by then is read as it is now, and said to be', async () => {
    const graph = await compile({
      id: 'later',
      nodes: [
        stage('work'),
        { id: 'there', type: 'condition', config: { if: 'subject.place == "Rome"' } },
        end('yes'),
        end('no'),
      ],
      edges: [
        { from: 'work', to: 'there' },
        { from: 'there', outcome: 'true', to: 'yes' },
        { from: 'there', outcome: 'false', to: 'no' },
      ],
    });
    const { path } = await dry(graph, { world });
    expect(path[1]).toMatchObject({
      outcome: 'true',
      unknown: ['the subject is looked at as it is now, and work comes before'],
    });
    expect(path[2]).toMatchObject({ node: 'yes', assumed: true });
  });

  it('RUN-7: nodes that wait, change, start and tell say what they would do', async () => {
    const graph = await compile({
      id: 'acts',
      nodes: [
        { id: 'nap', type: 'wait', config: { timer: '2 days' } },
        { id: 'until', type: 'wait', config: { until: '"2026-05-01T00:00:00Z"' } },
        { id: 'reply', type: 'wait', config: { event: { key: '"reply." + input.id', subject: true }, timeout: '3h' } },
        { id: 'ready', type: 'wait', config: { condition: 'subject.place == "Rome"' } },
        { id: 'set', type: 'set_field', config: { field: 'note', value: 'input.id' } },
        { id: 'move', type: 'transition', config: { to: 'approved' } },
        { id: 'child', type: 'start_workflow', config: { workflow: 'other' }, input: { id: 'input.id' } },
        { id: 'tell', type: 'emit_event', config: { key: '"told"' }, input: { by: 'output("child").by' } },
        stage('left', { when: 'input.id == "y"' }),
        end('end'),
        end('late'),
      ],
      edges: [
        { from: 'nap', to: 'until' },
        { from: 'until', to: 'reply' },
        { from: 'reply', to: 'ready' },
        { from: 'reply', outcome: 'timeout', to: 'late' },
        { from: 'ready', to: 'set' },
        { from: 'set', to: 'move' },
        { from: 'move', to: 'child' },
        { from: 'child', to: 'tell' },
        { from: 'tell', to: 'left' },
        { from: 'left', to: 'end' },
      ],
    });
    const { path, ends } = await dry(graph, { input: { id: 'x' }, world, outputs: { child: { by: 'ann' } } });
    expect(ends).toBe('completed');
    expect(path.map(({ would }) => would)).toEqual([
      'Waits 2 d, and goes on to until.',
      'Waits until 2026-05-01T00:00:00Z, and goes on to reply.',
      'Waits for the event "reply.x" about expense e1, for 3 h at most, and goes on to ready.',
      'Waits until subject.place == "Rome": it holds already, and goes on to set.',
      'Sets note of expense e1 to "x", and goes on to move.',
      'Moves expense e1 to approved, and goes on to child.',
      'Starts other and waits for its end, and goes on to tell.',
      'Tells of the event "told", and goes on to left.',
      'Is skipped, since input.id == "y" does not hold, and goes on to end.',
      'Ends the run with "done", its output being {"outcome":"done"}.',
    ]);
    expect(path[7]).toMatchObject({ given: { by: 'ann' } });
    const late = await dry(graph, { input: { id: 'x' }, world, outcomes: { reply: 'timeout' } });
    expect(wayOf(late)).toEqual(['nap done', 'until done', 'reply timeout', 'late done']);
    const nothing = await dry(graph, { input: { id: 'x' }, world: { subject: world.subject } });
    expect(nothing).toMatchObject({ ends: 'failed', problems: [{ node: 'set', code: 'INVALID_OPTIONS' }] });
  });
});
