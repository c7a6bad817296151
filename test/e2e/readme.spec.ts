import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { WorkflowModule } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { CountWords, DocumentAnalysis, ExtractText } from './readme-example.js';

describe('the README', () => {
  it('DEF-2: shows the workflow that is run here, to the letter', () => {
    const example = readFileSync('test/e2e/readme-example.ts', 'utf8');
    const blocks = [...readFileSync('README.md', 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
    expect(blocks[0]).toBe(example);
  });

  it('DEF-2: its workflow runs', async () => {
    const site = createServer((_, response) => response.end('all human beings are born free')).listen(0, '127.0.0.1');
    await new Promise((resolve) => site.once('listening', resolve));
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    @Module({ imports: [WorkflowModule.forRoot()], providers: [ExtractText, CountWords, DocumentAnalysis] })
    class AppModule {}
    const tester = await WorkflowTester.create({ imports: [AppModule], store: 'memory' });
    try {
      const run = await tester.start(DocumentAnalysis, { url });
      await tester.drain();
      expect(await tester.status(run)).toBe('COMPLETED');
      expect(await tester.result(run)).toEqual({ words: 6 });
    } finally {
      await tester.close();
      site.close();
    }
  });
});
