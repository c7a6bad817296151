import { announce, onMessage } from '../../../support/process-side.js';

enum Mood {
  Calm = 'calm',
}

function noted(target: object): void {
  Reflect.set(target, 'noted', true);
}

@noted
class Echo {
  constructor(readonly mood: Mood) {}
}

const echo = new Echo(Mood.Calm);

onMessage<{ text: string }>('say', ({ text }) => announce('said', { text, at: new Date(0), mood: echo.mood }));
onMessage('fall', () => {
  throw new Error('fell over');
});
void announce('ready', { class: Echo.name, noted: Reflect.get(Echo, 'noted') as boolean });
