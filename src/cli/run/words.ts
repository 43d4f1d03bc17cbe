// What a run says on stderr.

const ignore = (): void => {}

/**
 * Its terminal may be closed, or its reader gone: that is no reason to fail.
 * Asking for `process.stderr` opens it. Before the program is started that is too early: the program is given it as one that waits for its reader, and
 * this process would wait at each word, too, deaf to signals.
 */
export function letReaderGo(): void {
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore)
}

/** @param text whole lines */
export function say(text: string): void {
  letReaderGo()
  process.stderr.write(text)
}
