/** A promise, `given`, and the function `give` that resolves it. */
export function signal(): { readonly promise: Promise<void>; readonly give: () => void } {
  let give = (): void => {};
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}
