// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Capped} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Capped.sol";

/// The reward token: 18 decimals, a cap, and one minter for ever.
contract RewardToken is ERC20Capped {
    address public immutable minter;

    error Unauthorized(address caller);

    constructor(string memory name_, string memory symbol_, uint256 cap_, address minter_)
        ERC20(name_, symbol_)
        ERC20Capped(cap_)
    {
        minter = minter_;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != minter) revert Unauthorized(msg.sender);
        _mint(to, amount);
    }
}

/// Creates the reward token, and says in a log what it created.
contract TokenFactory {
    event TokenCreated(address indexed token, address indexed minter, string name, string symbol, uint8 decimals, uint256 cap);

    function create(string calldata name, string calldata symbol, uint256 cap, address minter)
        external
        returns (RewardToken token)
    {
        token = new RewardToken(name, symbol, cap, minter);
        emit TokenCreated(address(token), minter, name, symbol, token.decimals(), cap);
    }
}
