import { describeWaitsBeside } from './support/waits-beside-suite.js';

describeWaitsBeside(async () => ({}));
