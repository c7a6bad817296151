import { Injectable } from '@nestjs/common';

/** Letters that went out. Stands for a mail relay. */
@Injectable()
export class Post {
  readonly letters: string[] = [];

  send(letter: string): void {
    this.letters.push(letter);
  }
}
