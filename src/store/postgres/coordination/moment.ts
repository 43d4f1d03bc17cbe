// How much time has passed for a process that may have been stopped meanwhile.
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}
export const moment = (): Moment => ({ monotonic: performance.now(), wall: Date.now() })
/** The monotonic clock stands still while a machine is suspended, and the other may be set back: whichever went further. */
export const since = ({ monotonic, wall }: Moment): number =>
  Math.max(performance.now() - monotonic, Date.now() - wall)
