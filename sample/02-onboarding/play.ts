import { Story } from './story/story.js';
import { renderTimeline } from './story/timeline.js';
import { TravellingApp } from './story/travelling-app.js';

/** Plays the story on a database of its own, prints what happened, and leaves nothing behind. */
export async function play(out: NodeJS.WritableStream, port: number): Promise<void> {
  const print = (text: string): void => void out.write(`${text}\n`);
  print('Starting PostgreSQL and the app …');
  const app = await TravellingApp.open({ port, lostAnswers: 1 });
  try {
    print(`HTTP: ${app.url}. Three weeks, on a clock that is moved:\n`);
    const begun = performance.now();
    const { fates, mails, moments } = await new Story(app).play();
    print(renderTimeline(moments));
    const views = Object.values(fates).map(({ view }) => view);
    const count = (status: string): number => views.filter((view) => view.status === status).length;
    const twice = mails.filter(({ handedOver }) => handedOver > 1).length;
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    print(
      [
        '',
        `${views.length} onboardings: ${count('COMPLETED')} completed, ${count('FAILED')} failed, ${count('CANCELLED')} cancelled.`,
        `${mails.length} mails went out, each once; ${twice} was handed over twice, for its answer was lost.`,
        `It took ${seconds} s. With --serve the app waits for you instead, on the real clock.`,
      ].join('\n'),
    );
  } finally {
    await app.close();
  }
}
