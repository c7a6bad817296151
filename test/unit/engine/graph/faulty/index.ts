import { BODIES } from './bodies.js';
import { CONFIGS } from './configs.js';
import { EDGES } from './edges.js';
import { EXPRESSIONS } from './expressions.js';
import type { FaultyGraph } from './faulty-graph.js';
import { SHAPE } from './shape.js';
import { SIZES } from './sizes.js';
import { TRIGGERS } from './triggers.js';
import { TYPES } from './types.js';

export const FAULTY_GRAPHS: readonly FaultyGraph[] = [
  ...SHAPE,
  ...EDGES,
  ...BODIES,
  ...CONFIGS,
  ...EXPRESSIONS,
  ...TYPES,
  ...TRIGGERS,
  ...SIZES,
];
