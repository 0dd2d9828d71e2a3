// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {Mining} from "./Mining.sol";

/// The miners: an allowlist sale, then a public one, and a reserve of the protocol's. Metadata is made on the chain.
contract Collection is ERC721, Ownable, Pausable {
    using Strings for uint256;

    struct Sale {
        uint64 allowlistStart;
        uint64 allowlistEnd;
        uint256 publicPrice;
        uint64 publicAllocation;
        uint64 protocolReserve;
    }

    enum Phase {
        Unconfigured,
        Pending,
        Allowlist,
        Public,
        Closed
    }

    uint256 public constant TOKENS_MAX = 9999;

    Mining public mining;
    Sale private _sale;
    bool public isClosed;
    uint64 public publicMinted;
    uint64 public reserveMinted;
    uint64 public metadataEpoch = 1;
    string public cardBaseUrl;
    mapping(address account => uint256) public allowance;

    event MiningBound(address mining);
    event SaleConfigured(
        uint64 allowlistStart,
        uint64 allowlistEnd,
        uint256 publicPrice,
        uint64 publicAllocation,
        uint64 protocolReserve
    );
    event SaleClosed();
    event PublicMinted(address indexed owner, uint64 quantity, uint64 publicMinted);
    event ReserveMinted(address indexed owner, uint64 quantity, uint64 reserveMinted);
    event MetadataEpochAdvanced(uint64 epoch);
    event MetadataPublished(uint256 indexed tokenId, uint64 epoch, string uri);

    error WrongPhase(Phase phase);
    error WrongPayment(uint256 given, uint256 expected);
    error SoldOut();
    error NotAllowed(address account);

    constructor(string memory name_, string memory symbol_, address owner_) ERC721(name_, symbol_) Ownable(owner_) {
        emit MetadataEpochAdvanced(metadataEpoch);
    }

    function bindMining(Mining given) external onlyOwner {
        if (address(mining) != address(0)) revert NotAllowed(address(given));
        mining = given;
        emit MiningBound(address(given));
    }

    function configureSale(Sale calldata given) external onlyOwner {
        bool isInOrder = given.allowlistStart > 0 && given.allowlistStart <= given.allowlistEnd;
        if (!isInOrder || given.publicAllocation + given.protocolReserve > TOKENS_MAX) revert SoldOut();
        _sale = given;
        emit SaleConfigured(
            given.allowlistStart,
            given.allowlistEnd,
            given.publicPrice,
            given.publicAllocation,
            given.protocolReserve
        );
    }

    function allow(address[] calldata accounts, uint256 quantity) external onlyOwner {
        for (uint256 index; index < accounts.length; index++) allowance[accounts[index]] = quantity;
    }

    function closeSale() external onlyOwner {
        isClosed = true;
        emit SaleClosed();
    }

    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function advanceMetadataEpoch(string calldata newCardBaseUrl) external onlyOwner {
        cardBaseUrl = newCardBaseUrl;
        metadataEpoch += 1;
        emit MetadataEpochAdvanced(metadataEpoch);
    }

    function phase() public view returns (Phase) {
        if (isClosed) return Phase.Closed;
        if (_sale.allowlistStart == 0) return Phase.Unconfigured;
        if (publicMinted >= _sale.publicAllocation) return Phase.Closed;
        if (block.timestamp < _sale.allowlistStart) return Phase.Pending;
        return block.timestamp < _sale.allowlistEnd ? Phase.Allowlist : Phase.Public;
    }

    /// Mints in the allowlist and the public phase, for the price in the chain's native coin.
    function mint(uint64 quantity) external payable whenNotPaused {
        Phase now_ = phase();
        if (now_ == Phase.Allowlist) {
            if (allowance[msg.sender] < quantity) revert NotAllowed(msg.sender);
            allowance[msg.sender] -= quantity;
        } else if (now_ != Phase.Public) {
            revert WrongPhase(now_);
        }
        uint256 price = _sale.publicPrice * quantity;
        if (msg.value != price) revert WrongPayment(msg.value, price);
        if (publicMinted + quantity > _sale.publicAllocation) revert SoldOut();
        publicMinted += quantity;
        emit PublicMinted(msg.sender, quantity, publicMinted);
        _mintPositions(msg.sender, quantity);
    }

    function mintReserve(address to, uint64 quantity) external onlyOwner {
        if (reserveMinted + quantity > _sale.protocolReserve) revert SoldOut();
        reserveMinted += quantity;
        emit ReserveMinted(to, quantity, reserveMinted);
        _mintPositions(to, quantity);
    }

    function burn(uint256 tokenId) external {
        if (msg.sender != address(mining)) revert NotAllowed(msg.sender);
        _burn(tokenId);
    }

    /// Says in a log what a token's metadata is now; anyone may, after the epoch was advanced.
    function publishMetadata(uint256 tokenId) public {
        emit MetadataPublished(tokenId, metadataEpoch, tokenURI(tokenId));
    }

    function sale() external view returns (Sale memory) {
        return _sale;
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        Mining.Position memory position = mining.positionOf(tokenId);
        string memory id = tokenId.toString();
        string memory level = uint256(position.level).toString();
        bytes memory card = bytes(cardBaseUrl).length == 0
            ? bytes("")
            : abi.encodePacked(',"card_image":"', cardBaseUrl, id, '"');
        bytes memory json = abi.encodePacked(
            '{"name":"Miner #',
            id,
            '","description":"A miner of the wheel. It earns with its weight in every round that completes a work block."',
            ',"epoch":',
            uint256(metadataEpoch).toString(),
            ',"attributes":[{"trait_type":"Level","value":"',
            level,
            '"},{"trait_type":"Weight","value":"',
            position.targetWeight.toString(),
            '"}]',
            card,
            ',"image":"data:image/svg+xml;base64,',
            Base64.encode(_svg(id, level)),
            '"}'
        );
        return string(abi.encodePacked("data:application/json;base64,", Base64.encode(json)));
    }

    function _svg(string memory id, string memory level) private pure returns (bytes memory) {
        return abi.encodePacked(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><rect width="200" height="200" fill="#1b2430"/>',
            '<circle cx="100" cy="90" r="60" fill="none" stroke="#f2b134" stroke-width="8"/>',
            '<text x="100" y="96" text-anchor="middle" fill="#fff" font-size="20">',
            id,
            '</text><text x="100" y="180" text-anchor="middle" fill="#9fb3c8" font-size="14">level ',
            level,
            "</text></svg>"
        );
    }

    function _mintPositions(address owner, uint64 quantity) private {
        uint256 last = uint256(publicMinted) + reserveMinted;
        for (uint256 tokenId = last - quantity + 1; tokenId <= last; tokenId++) {
            _mint(owner, tokenId);
            mining.mintPosition(owner, tokenId);
            publishMetadata(tokenId);
        }
    }
}
