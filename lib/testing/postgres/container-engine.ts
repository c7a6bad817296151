import { request } from 'node:http';

const ANSWER_WITHIN_MS = 1_000;

/**
 * Whether a Docker engine answers, on DOCKER_HOST or on its usual socket.
 *
 * Asked first because Testcontainers takes its time to find out that there is none. An engine behind TLS or ssh is not
 * looked for.
 */
export async function containerEngineAnswers(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const target = parseDockerHost(env.DOCKER_HOST ?? 'unix:///var/run/docker.sock');
  if (target === undefined || env.DOCKER_TLS_VERIFY === '1') return false;
  return new Promise((resolve) => {
    const ping = request({ ...target, path: '/_ping', timeout: ANSWER_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once('error', () => resolve(false));
    ping.once('timeout', () => ping.destroy(new Error('no answer')));
    ping.end();
  });
}

function parseDockerHost(host: string): { socketPath: string } | { host: string; port: number } | undefined {
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) };
  if (!URL.canParse(host)) return undefined;
  const url = new URL(host);
  if (url.protocol !== 'tcp:' && url.protocol !== 'http:') return undefined;
  return { host: url.hostname, port: Number(url.port || 2375) };
}
