export { InProcessBroker } from './in-process-broker.js';
export { InProcessTransport } from './in-process-transport.js';
