import { globalFramework, type Matchers, type SuiteFramework } from './suite-framework.js';
import { describeTransportCancels } from './suites/transport-cancels.suite.js';
import { describeTransportDeliveries } from './suites/transport-deliveries.suite.js';
import { describeTransportStops } from './suites/transport-stops.suite.js';
import { TransportUnderTest, type CreatedTransport } from './transport-under-test.js';

/** What a part of the suite is written with: `it` hands each test a broker of its own. */
export interface TransportSuite {
  it(title: string, body: (on: TransportUnderTest) => Promise<void>): void;
  expect(actual: unknown): Matchers;
}

const PARTS: Readonly<Record<string, (suite: TransportSuite) => void>> = {
  deliveries: describeTransportDeliveries,
  'cancelled runs': describeTransportCancels,
  'starts and stops': describeTransportStops,
};

/**
 * What every `JobTransport` has to do, as tests (JOB-3): run it on an adapter of your own, and the engine works on it.
 *
 * `createTransport` is called before each test and gives two clients of one broker that holds nothing yet. Tests wait for
 * deliveries, never for time; a delivery that does not come ends by the framework's time limit.
 *
 * @param framework where `describe`, `it`, `expect`, `beforeEach` and `afterEach` come from @default the globals
 * @publicApi
 * @example
 * describeTransport('MyTransport', async () => {
 *   const queue = uniqueName();
 *   return { transport: new MyTransport(queue), second: new MyTransport(queue), close: () => removeQueue(queue) };
 * });
 */
export function describeTransport(
  name: string,
  createTransport: () => Promise<CreatedTransport>,
  framework: SuiteFramework = globalFramework(),
): void {
  framework.describe(name, () => {
    let current: TransportUnderTest | undefined;

    framework.beforeEach(async () => {
      current = new TransportUnderTest(await createTransport());
    });
    framework.afterEach(async () => {
      await current?.close();
      current = undefined;
    });

    const suite: TransportSuite = {
      it: (title, body) =>
        framework.it(title, async () => {
          if (current === undefined) throw new Error('The transport was not created.');
          await body(current);
        }),
      expect: (actual) => framework.expect(actual),
    };
    for (const [part, describePart] of Object.entries(PARTS)) framework.describe(part, () => describePart(suite));
  });
}
