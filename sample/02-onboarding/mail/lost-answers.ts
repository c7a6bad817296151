/** How a mail goes out and its sender never hears of it: the answers to the first few mails are lost on purpose. */
export class LostAnswers {
  constructor(private left: number) {}

  /** Whether this answer is lost. */
  next(): boolean {
    if (this.left === 0) return false;
    this.left -= 1;
    return true;
  }
}
