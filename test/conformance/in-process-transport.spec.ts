import { describeTransport } from '../../lib/testing/conformance/index.js';
import { InProcessBroker, InProcessTransport } from '../../lib/testing/transport/index.js';

describeTransport('InProcessTransport', async () => {
  const broker = new InProcessBroker();
  return { transport: new InProcessTransport(broker), second: new InProcessTransport(broker), close: () => undefined };
});
