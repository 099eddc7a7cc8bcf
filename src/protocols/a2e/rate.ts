/** How often one session may send messages. */
export interface MessageRate {
  readonly messages: number;
  readonly seconds: number;
}

/** Counts the messages of one session, in windows of time. */
export class RateWindow {
  readonly #rate: MessageRate;
  readonly #clock: () => number;
  #until = Number.NEGATIVE_INFINITY;
  #messages = 0;

  constructor(rate: MessageRate, clock: () => number) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Counts one more. @returns Whether that is one too many. */
  isOver(): boolean {
    const now = this.#clock();
    if (now >= this.#until) {
      this.#until = now + this.#rate.seconds * 1000;
      this.#messages = 0;
    }
    this.#messages++;
    return this.#messages > this.#rate.messages;
  }
}
