import { describeAbandonedWaits } from './suites/abandoned-waits.suite.js';
import { describeApprovalDecisions } from './suites/approval-decisions.suite.js';
import { describeApprovalEnds } from './suites/approval-ends.suite.js';
import { describeApprovalRounds } from './suites/approval-rounds.suite.js';
import { describeAudit } from './suites/audit.suite.js';
import { describeCancelJobs } from './suites/cancel-jobs.suite.js';
import { describeChildren } from './suites/children.suite.js';
import { describeClaims } from './suites/claims.suite.js';
import { describeDefinitions } from './suites/definitions.suite.js';
import { describeEffects } from './suites/effects.suite.js';
import { describeEventLimits } from './suites/event-limits.suite.js';
import { describeEventSweeps } from './suites/event-sweeps.suite.js';
import { describeEvents } from './suites/events.suite.js';
import { describeFiredWaits } from './suites/fired-waits.suite.js';
import { describeEscalations } from './suites/escalations.suite.js';
import { describeGraphRows } from './suites/graph-rows.suite.js';
import { describeGraphs } from './suites/graphs.suite.js';
import { describeHandOffs } from './suites/hand-offs.suite.js';
import { describeJoinedRecords } from './suites/joined-records.suite.js';
import { describeLateWrites } from './suites/late-writes.suite.js';
import { describeLeases } from './suites/leases.suite.js';
import { describeLinearRecords } from './suites/linear-records.suite.js';
import { describeNotes } from './suites/notes.suite.js';
import { describeOutbox } from './suites/outbox.suite.js';
import { describePayloads } from './suites/payloads.suite.js';
import { describeRunChanges } from './suites/run-changes.suite.js';
import { describeRunReads } from './suites/run-reads.suite.js';
import { describeSends } from './suites/sends.suite.js';
import { describeSignals } from './suites/signals.suite.js';
import { describeStandingAnswers } from './suites/standing-answers.suite.js';
import { describeStarts } from './suites/starts.suite.js';
import { describeReruns } from './suites/reruns.suite.js';
import { describeResumptions } from './suites/resumptions.suite.js';
import { describeStepLeases } from './suites/step-leases.suite.js';
import { describeStepWrites } from './suites/step-writes.suite.js';
import { describeSuspensionMarks } from './suites/suspension-marks.suite.js';
import { describeSuspensions } from './suites/suspensions.suite.js';
import { describeTouches } from './suites/touches.suite.js';
import { describeTriggers } from './suites/triggers.suite.js';
import { describeWakes } from './suites/wakes.suite.js';
import { StoreUnderTest, type CreatedStore } from './store-under-test.js';
import { globalFramework, type SuiteFramework } from './suite-framework.js';
import type { StoreSuite } from './suite.js';

const PARTS: Readonly<Record<string, (suite: StoreSuite) => void>> = {
  starts: describeStarts,
  claims: describeClaims,
  sends: describeSends,
  payloads: describePayloads,
  'linear records': describeLinearRecords,
  'hand-offs': describeHandOffs,
  'joined records': describeJoinedRecords,
  'graph rows': describeGraphRows,
  escalations: describeEscalations,
  'late writes': describeLateWrites,
  leases: describeLeases,
  'cancel jobs': describeCancelJobs,
  'changes of runs': describeRunChanges,
  'reads of runs': describeRunReads,
  audit: describeAudit,
  triggers: describeTriggers,
  wakes: describeWakes,
  outbox: describeOutbox,
  definitions: describeDefinitions,
  graphs: describeGraphs,
  'step writes': describeStepWrites,
  'leases of steps': describeStepLeases,
  effects: describeEffects,
  suspensions: describeSuspensions,
  'marks at a suspension': describeSuspensionMarks,
  'waits that were left behind': describeAbandonedWaits,
  'standing answers': describeStandingAnswers,
  touches: describeTouches,
  resumptions: describeResumptions,
  'fired waits': describeFiredWaits,
  signals: describeSignals,
  events: describeEvents,
  'limits of waits for events': describeEventLimits,
  'sweeps of events': describeEventSweeps,
  children: describeChildren,
  reruns: describeReruns,
  notes: describeNotes,
  'approval rounds': describeApprovalRounds,
  'approval decisions': describeApprovalDecisions,
  'approval ends': describeApprovalEnds,
};

/**
 * What every `WorkflowStore` has to do, as tests: run it on a store of your own, and the engine works on it.
 *
 * `createStore` is called before each test and gives a store that holds nothing yet; `second` stands for another process
 * on the same tables. Tests move time by `clockOffsetMs` and never sleep.
 *
 * @param framework where `describe`, `it`, `expect`, `beforeEach` and `afterEach` come from @default the globals
 * @publicApi
 * @example describeStore('MyStore', async () => ({ store: await MyStore.open(), close: () => undefined }));
 */
export function describeStore(
  name: string,
  createStore: () => Promise<CreatedStore>,
  framework: SuiteFramework = globalFramework(),
): void {
  framework.describe(name, () => {
    let current: StoreUnderTest | undefined;

    framework.beforeEach(async () => {
      current = new StoreUnderTest(await createStore());
    });
    framework.afterEach(async () => {
      await current?.close();
      current = undefined;
    });

    const suite: StoreSuite = {
      it: (title, body) =>
        framework.it(title, async () => {
          if (current === undefined) throw new Error('The store was not created.');
          await body(current);
        }),
      expect: (actual) => framework.expect(actual),
    };
    for (const [part, describePart] of Object.entries(PARTS)) framework.describe(part, () => describePart(suite));
  });
}
