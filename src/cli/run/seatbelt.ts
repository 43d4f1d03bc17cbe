// Containment on macOS: a profile for sandbox-exec. It is written after Apple's documented rules, and was not run on a Mac.

/**
 * Network to the door on loopback alone, and nothing of the gateway's own files. `(allow default)` leaves the rest as it is: the last rule
 * that matches counts.
 * @param hidden folders that may be neither read nor written
 */
export function seatbeltProfile(port: number, hidden: readonly string[]): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny network*)',
    `(allow network-outbound (remote ip "localhost:${port}"))`,
    ...hidden.map((path) => `(deny file-read* file-write* (subpath ${quote(path)}))`),
    '',
  ].join('\n')
}

/** A string of the profile language: backslashes and quotes are escaped. */
const quote = (path: string) => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
