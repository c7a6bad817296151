import type {
  RunHandle,
  StartOptions,
  StartResult,
  WorkflowClass,
  WorkflowInput,
  WorkflowOutput,
} from '../../lib/interfaces/index.js';

/** The calls whose types follow from a workflow class, as the service declares them. */
export interface TypedCalls {
  start<W extends WorkflowClass>(
    workflow: W,
    input: WorkflowInput<W>,
    options?: StartOptions,
  ): Promise<StartResult<WorkflowOutput<W>>>;
  start(id: string, input: unknown, options?: StartOptions): Promise<StartResult>;
  startAndWait<W extends WorkflowClass>(workflow: W, input: WorkflowInput<W>): Promise<WorkflowOutput<W>>;
  result<O>(run: RunHandle<O>): Promise<O>;
  result<W extends WorkflowClass>(runId: string, workflow: W): Promise<WorkflowOutput<W>>;
  result(runId: string): Promise<unknown>;
}
