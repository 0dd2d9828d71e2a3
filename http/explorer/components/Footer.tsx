/** What the page is, and where its data is. */
export function Footer() {
  return (
    <footer>
      <p>
        Everything here is read from this service’s own public routes; press any figure to see which one.
        Unknown is never shown as zero. For display: read the contracts again before you sign anything.
      </p>
      <p>
        <a href="/docs">Documentation of the routes</a> · <a href="/openapi.json">OpenAPI</a> · times are UTC,
        and rest on a time to see yours · no cookies, nothing from elsewhere
      </p>
    </footer>
  );
}
