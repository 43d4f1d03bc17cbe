/** The text with another last character, whatever that was: a fixed one would be the right one now and then. */
export const mistyped = (text: string): string => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
