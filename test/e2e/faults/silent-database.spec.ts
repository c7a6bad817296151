import { createServer, type AddressInfo, type Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { WorkflowModule } from 'nestjs-workflow-engine';
import { buildApp, signal } from '../app.js';

it('FAULT K14: an app whose start hangs on a database that never answers closes within bounds', async () => {
  const sockets: Socket[] = [];
  const connected = signal();
  // Accepts, and says nothing.
  const silent = createServer((socket) => {
    sockets.push(socket);
    connected.resolve();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  const dataSource = new DataSource({ type: 'postgres', host: '127.0.0.1', port, connectTimeoutMS: 2_000 });
  const app = await buildApp({ modules: [WorkflowModule.forRoot({ dataSource, shutdownGrace: 0 })] });

  const starting = app.init().catch((error: unknown) => error);
  await connected.promise;
  const begun = performance.now();
  await app.close();
  console.info(`closed ${Math.round(performance.now() - begun)} ms after the start began to hang`);
  expect(performance.now() - begun).toBeLessThan(25_000);
  await expect(starting).resolves.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  for (const socket of sockets) socket.destroy();
  silent.close();
});
