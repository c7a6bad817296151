import { type FaultyGraph, graphOf } from './faulty-graph.js';

const schedule = (over: object) => graphOf({ triggers: [{ id: 't', type: 'schedule', cron: '0 9 * * *', ...over }] });
const cron = (text: string): FaultyGraph => ({
  name: `the cron text ${text}`,
  graph: schedule({ cron: text }),
  problems: [['INVALID_SCHEDULE', '$.triggers[0].cron']],
});
const zone = (text: string): FaultyGraph => ({
  name: `the time zone ${text}`,
  graph: schedule({ timeZone: text }),
  problems: [['INVALID_SCHEDULE', '$.triggers[0].timeZone']],
});

export const TRIGGERS: readonly FaultyGraph[] = [
  ...[
    '',
    'daily',
    '0 9 * *',
    '0 0 9 * * *',
    '60 * * * *',
    '* 24 * * *',
    '0 0 31 2 *',
    '0 0 30 FEB *',
    '0 0 * * MUN',
    '5-1 * * * *',
    '*/0 * * * *',
    '1,,2 * * * *',
    '@daily * * * *',
  ].map(cron),
  ...['Europe/Rom', 'CEST+2', '+02:00', '', 'Europe/Rome; DROP TABLE'].map(zone),
  {
    name: 'on behalf of nobody',
    graph: graphOf({
      settings: { actor: 'on_behalf_of' },
      triggers: [
        { id: 'a', type: 'schedule', cron: '0 9 * * *' },
        { id: 'b', type: 'webhook', auth: 'token' },
        { id: 'c', type: 'event', on: 'order.created' },
      ],
    }),
    problems: [
      ['ACTOR_REQUIRES_USER', '$.triggers[0].type'],
      ['ACTOR_REQUIRES_USER', '$.triggers[1].type'],
    ],
  },
  {
    name: 'an event by the name that changes of entities are told by',
    graph: graphOf({ triggers: [{ id: 'a', type: 'event', on: '@entity/Order/update' }] }),
    problems: [['INVALID_SHAPE', '$.triggers[0].on']],
  },
  {
    name: 'a change of an entity that nobody tells of',
    graph: graphOf({ triggers: [{ id: 'a', type: 'event', on: { entity: 'Ordr', change: 'update' } }] }),
    problems: [['UNKNOWN_ENTITY', '$.triggers[0].on.entity']],
  },
  {
    name: 'triggers of no type, and of one id',
    graph: graphOf({
      triggers: [
        { id: 'a', type: 'timer' },
        null,
        { id: 'b', type: 'webhook', auth: 'token' },
        { id: 'B', type: 'webhook', auth: 'none' },
        { id: 'b', type: 'event', on: { entity: 'Order' } },
        { id: 'b', type: 'event', on: 'x' },
      ],
    }),
    problems: [
      ['INVALID_SHAPE', '$.triggers[0].type'],
      ['INVALID_SHAPE', '$.triggers[1].type'],
      ['INVALID_SHAPE', '$.triggers[3].auth'],
      ['INVALID_SHAPE', '$.triggers[4].on.change'],
      ['DUPLICATE_ID', '$.triggers[5].id'],
    ],
  },
  {
    name: 'names that no column takes as they are',
    graph: graphOf({
      triggers: [
        { id: 'a', type: 'event', on: 'paid\u0000' },
        { id: 'b', type: 'event', on: { entity: '\ud800', change: 'insert' } },
        { id: 'c', type: 'event', on: ' ' },
        { id: 'd', type: 'event', on: 'x', subject: { type: 'order\u0000', id: 'event.id' } },
      ],
    }),
    problems: [
      ['INVALID_SHAPE', '$.triggers[0].on'],
      ['INVALID_SHAPE', '$.triggers[1].on.entity'],
      ['INVALID_SHAPE', '$.triggers[2].on'],
      ['INVALID_SHAPE', '$.triggers[3].subject.type'],
    ],
  },
  {
    name: 'expressions of triggers that speak of what is not there',
    graph: graphOf({
      triggers: [
        { id: 'a', type: 'schedule', cron: '0 9 * * *', input: { amount: 'event.amount' } },
        { id: 'b', type: 'webhook', auth: 'token', key: 'input.id', input: { a: 'output("a")' } },
        { id: 'c', type: 'event', on: 'x', where: 'now > event.at', subject: { type: 'order', id: 'subject.id' } },
      ],
    }),
    problems: [
      ['INVALID_EXPRESSION', '$.triggers[0].input.amount'],
      ['INVALID_EXPRESSION', '$.triggers[1].key'],
      ['INVALID_EXPRESSION', '$.triggers[1].input.a'],
      ['INVALID_EXPRESSION', '$.triggers[2].where'],
      ['INVALID_EXPRESSION', '$.triggers[2].subject.id'],
    ],
  },
];
