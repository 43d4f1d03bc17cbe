/** Where `src/data/files/<name>` lies: beside this file in the sources, beside the code in a build. */
export const dataFile = (name: string): URL =>
  new URL(import.meta.url.endsWith('.ts') ? `./files/${name}` : `./${name}`, import.meta.url)
