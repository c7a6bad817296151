import { guardedTables, POLICIES } from '../../../lib/persistence/row-level-security/row-policies.js';
import { policyBlock } from '../../../lib/persistence/row-level-security/policy-block.js';
import { TABLES, tableNames } from '../../../lib/persistence/table-names.js';

describe('row policies', () => {
  it('OWNER-4: every table has some, and the script names it', () => {
    const guarded = guardedTables(tableNames());
    expect(guarded.map(({ name }) => name)).toEqual(TABLES.map((table) => `"workflow_${table}"`));
    expect(guarded.filter(({ kind }) => POLICIES[kind].length === 0)).toEqual([]);
    const block = policyBlock(tableNames(), '1');
    for (const { name, kind } of guarded) expect(block).toContain(`('${name}', '${kind}')`);
  });

  it('OWNER-4: roles whose names hold quotes stay texts', () => {
    expect(policyBlock(tableNames(), '1', { switchTo: `o'x"y` })).toContain(`'o''x"y'`);
  });
});
