/** The server deletes a consumer of a follower that has had no request for this long. */
export const consumerInactiveMs = 30_000;
