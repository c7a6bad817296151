import { describeSteps } from './support/steps-suite.js';

describeSteps(async () => ({}));
